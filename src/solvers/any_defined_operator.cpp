// Operators and solvers over entries from a definition.
#include "any_implementation.hpp"
#include "heddle/runtime/defined_jacobi.hpp"

namespace heddle::detail {

namespace {

/// What `Field<E>` is to a type: a field in the operator's layout, basis and memory.
template <class S>
struct DefinedField {
  Array<S> scalars;
  FieldView<S> view;

  DefinedField(Index rows, int components, const DefinedOperator<S>& matrix,
               std::shared_ptr<const Basis> basis)
      : scalars(static_cast<std::size_t>(rows) * static_cast<std::size_t>(components),
                matrix.device()),
        view(scalars.data(), rows, components, matrix.vector_layout(), std::move(basis)) {}
};

/// x and y of one product.
template <class S>
class DefinedProduct final : public AnyOperator::Product {
 public:
  DefinedProduct(const DefinedOperator<S>& matrix, const AnyField& x)
      : matrix_(matrix),
        x_(matrix.columns(), matrix.column_components(), matrix, matrix.column_basis()),
        y_(matrix.rows(), matrix.row_components(), matrix, matrix.row_basis()) {
    permute<S>(x.view<S>(), x_.view, S(1), matrix.device().stream());
  }
  void run(const Stream& stream) override { matrix_.apply(S(1), x_.view, S(0), y_.view, stream); }
  void take(AnyField& y) const override {
    permute<S>(y_.view, y.view<S>(), S(1), matrix_.device().stream());
    matrix_.device().synchronize();
  }

 private:
  DefinedOperator<S> matrix_;
  DefinedField<S> x_;
  DefinedField<S> y_;
};

template <class S>
class DefinedImplementation final : public AnyOperator::Implementation {
 public:
  DefinedImplementation(const DefinedMatrix<S>& matrix, const Plan& chosen, const Device& on)
      : DefinedImplementation(DefinedOperator<S>(matrix, chosen, on)) {}
  explicit DefinedImplementation(DefinedOperator<S> matrix) : matrix_(std::move(matrix)) {
    precision = precision_of<S>;
    rows = matrix_.rows();
    columns = matrix_.columns();
    row_components = matrix_.row_components();
    column_components = matrix_.column_components();
    device = matrix_.device();
    plan = matrix_.plan();
    memory = matrix_.memory();
    compulsory_bytes = matrix_.compulsory_bytes();
    bytes_of_product = matrix_.bytes_of_product();
  }

  std::shared_ptr<AnyOperator::Implementation> scheduled(const Plan& other) const override {
    return std::make_shared<DefinedImplementation>(matrix_.scheduled(other));
  }

  void apply(const AnyField& x, AnyField& y) const override {
    DefinedProduct<S> product(matrix_, x);
    product.run(device.stream());
    product.take(y);
  }
  std::unique_ptr<AnyOperator::Product> product(const AnyField& x) const override {
    return std::make_unique<DefinedProduct<S>>(matrix_, x);
  }
  std::unique_ptr<AnyOperator::Work> value_update(const AnyMatrix&) const override {
    throw Error(ErrorKind::unsupported,
                "a matrix of entries from a definition takes no new values; build it again");
  }
  std::unique_ptr<AnySolver::Implementation> solver(const MethodInfo& method,
                                                    PreconditionerKind preconditioner,
                                                    const SolverOptions& options) const override {
    return std::make_unique<SolverOver<S>>(
        solver_over<S>(matrix_, method, made(preconditioner), options));
  }
  std::unique_ptr<AnyOperator::Iterations> iterations(const MethodInfo& method,
                                                      PreconditionerKind preconditioner,
                                                      const SolverOptions& options,
                                                      const AnyField& b) const override {
    return std::make_unique<IterationsOver<S>>(
        matrix_, solver_over<S>(matrix_, method, made(preconditioner), options), options, b);
  }

 private:
  /// Null for none.
  std::shared_ptr<Preconditioner<S>> made(PreconditionerKind preconditioner) const {
    if (preconditioner == PreconditionerKind::none) return nullptr;
    return std::make_shared<DefinedJacobi<S>>(matrix_);
  }

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
