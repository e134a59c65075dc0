// Operators and solvers over entries from a definition: fields are the user's own, as they are.
#include "any_implementation.hpp"
#include "heddle/defined_jacobi.hpp"

namespace heddle::detail {

namespace {

template <class S>
class DefinedWork final : public AnyOperator::Work {
 public:
  DefinedWork(const DefinedOperator<S>& matrix, const AnyField& x)
      : matrix_(matrix),
        x_(x),
        y_(matrix.rows(), matrix.row_components(), precision_of<S>, matrix.device()) {}
  void product(const Stream& stream) override {
    matrix_.apply(S(1), x_.view<S>(), S(0), y_.view<S>(), stream);
  }

 private:
  DefinedOperator<S> matrix_;
  AnyField x_;
  AnyField y_;
};

template <class S>
class DefinedImplementation final : public AnyOperator::Implementation {
 public:
  DefinedImplementation(const DefinedMatrix<S>& matrix, const Plan& chosen, const Device& on)
      : matrix_(matrix, chosen, on) {
    precision = precision_of<S>;
    rows = matrix_.rows();
    columns = matrix_.columns();
    row_components = matrix_.row_components();
    column_components = matrix_.column_components();
    device = on;
    plan = chosen;
    memory = matrix_.memory();
    compulsory_bytes = matrix_.compulsory_bytes();
    bytes_of_product = matrix_.bytes_of_product();
  }

  void apply(const AnyField& x, AnyField& y) const override {
    matrix_.apply(S(1), x.view<S>(), S(0), y.view<S>(), device.stream());
  }
  std::unique_ptr<AnyOperator::Work> work(const AnyField& x) const override {
    return std::make_unique<DefinedWork<S>>(matrix_, x);
  }
  std::unique_ptr<AnySolver::Implementation> solver(Method method,
                                                    PreconditionerKind preconditioner,
                                                    const SolverOptions& options) const override {
    std::shared_ptr<Preconditioner<S>> applied;
    if (preconditioner == PreconditionerKind::jacobi) {
      applied = std::make_shared<DefinedJacobi<S>>(matrix_);
    }
    return solver_over<S>(matrix_, method, std::move(applied), options);
  }

 private:
  DefinedOperator<S> matrix_;
};

}  // namespace

template <class S>
std::shared_ptr<AnyOperator::Implementation> make_defined_operator(const DefinedMatrix<S>& matrix,
                                                                   const Plan& plan,
                                                                   const Device& device) {
  return std::make_shared<DefinedImplementation<S>>(matrix, plan, device);
}
template std::shared_ptr<AnyOperator::Implementation> make_defined_operator(
    const DefinedMatrix<float>&, const Plan&, const Device&);
template std::shared_ptr<AnyOperator::Implementation> make_defined_operator(
    const DefinedMatrix<double>&, const Plan&, const Device&);

}  // namespace heddle::detail
