#include "heddle/runtime/any_solver.hpp"

#include "any_implementation.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"

namespace heddle {

PreconditionerKind parse_preconditioner(std::string_view text) {
  if (text == "none") return PreconditionerKind::none;
  if (text == "jacobi") return PreconditionerKind::jacobi;
  throw Error(ErrorKind::usage,
              "no preconditioner is named '" + std::string(text) + "'; there are none jacobi");
}

namespace {

template <class E>
class ProductOver final : public AnyOperator::Product {
 public:
  using S = vector_scalar_t<E>;

  ProductOver(const Operator<E>& matrix, const AnyField& x)
      : matrix_(matrix),
        x_(matrix.columns(), matrix.device(), matrix.vector_layout(), matrix.column_basis()),
        y_(matrix.rows(), matrix.device(), matrix.vector_layout(), matrix.row_basis()) {
    permute<S>(x.view<S>(), x_, S(1), matrix.device().stream());
  }
  void run(const Stream& stream) override { matrix_.iterated().apply(S(1), x_, S(0), y_, stream); }
  void take(AnyField& y) const override {
    permute<S>(y_.view(), y.view<S>(), S(1), matrix_.device().stream());
    matrix_.device().synchronize();
  }

 private:
  Operator<E> matrix_;
  Field<E> x_;
  Field<E> y_;
};

template <class E>
class ValueUpdateOver final : public AnyOperator::Work {
 public:
  ValueUpdateOver(const Operator<E>& matrix, const CsrMatrix<E>& given)
      : matrix_(matrix), values_(given.values().span(), matrix.device()) {}
  void run(const Stream& stream) override {
    detail::place_values<E>(matrix_.pattern(), matrix_.plan().inner, ComponentOrder::row_major,
                            values_.span(), matrix_.values_in_basis(), stream);
  }

 private:
  Operator<E> matrix_;
  Array<stored_scalar_t<E>> values_;
};

template <class E>
class OperatorOver final : public AnyOperator::Implementation {
 public:
  using S = vector_scalar_t<E>;

  OperatorOver(const CsrMatrix<E>& matrix, const Plan& chosen, const Device& on)
      : OperatorOver(Operator<E>(matrix, chosen, on)) {}
  explicit OperatorOver(Operator<E> matrix) : matrix_(std::move(matrix)) {
    rows = matrix_.rows();
    columns = matrix_.columns();
    row_components = matrix_.row_components();
    column_components = matrix_.column_components();
    device = matrix_.device();
    plan = matrix_.plan();
    memory = matrix_.memory();
    compulsory_bytes = matrix_.compulsory_bytes();
    bytes_of_product = matrix_.iterated().bytes_of_product();
    const SlicedPattern& pattern = matrix_.pattern();
    bytes_of_value_update = 2 * pattern.entries * static_cast<long long>(sizeof(E));
    if (!pattern.entry_of_slot.is_identity()) {
      bytes_of_value_update += EntryMap::bytes(pattern.entries, pattern.entries);
    }
    precision = detail::precision_of<S>;
  }

  std::shared_ptr<AnyOperator::Implementation> scheduled(const Plan& other) const override {
    return std::make_shared<OperatorOver>(matrix_.scheduled(other));
  }

  void apply(const AnyField& x, AnyField& y) const override {
    const Stream stream = device.stream();
    Field<E> x_in(columns, device, plan.vector, matrix_.column_basis());
    Field<E> y_in(rows, device, plan.vector, matrix_.row_basis());
    permute<S>(x.view<S>(), x_in, S(1), stream);
    matrix_.apply(S(1), x_in, S(0), y_in, stream);
    permute<S>(y_in, y.view<S>(), S(1), stream);
  }

  std::unique_ptr<AnyOperator::Product> product(const AnyField& x) const override {
    return std::make_unique<ProductOver<E>>(matrix_, x);
  }
  std::unique_ptr<AnyOperator::Work> value_update(const AnyMatrix& matrix) const override {
    return matrix.visit(
        [&]<class F>(const CsrMatrix<F>& given) -> std::unique_ptr<AnyOperator::Work> {
          if constexpr (std::is_same_v<E, F>) {
            if (given.entries() == matrix_.pattern().entries) {
              return std::make_unique<ValueUpdateOver<E>>(matrix_, given);
            }
          }
          throw Error(ErrorKind::usage, "values of another matrix than the operator was made of");
        });
  }

  std::unique_ptr<AnySolver::Implementation> solver(const MethodInfo& method,
                                                    PreconditionerKind preconditioner,
                                                    const SolverOptions& options) const override {
    return std::make_unique<detail::SolverOver<S>>(
        detail::solver_over<S>(matrix_, method, made(preconditioner), options));
  }
  std::unique_ptr<AnyOperator::Iterations> iterations(const MethodInfo& method,
                                                      PreconditionerKind preconditioner,
                                                      const SolverOptions& options,
                                                      const AnyField& b) const override {
    return std::make_unique<detail::IterationsOver<S>>(
        matrix_, detail::solver_over<S>(matrix_, method, made(preconditioner), options), options,
        b);
  }

 private:
  /// Null for none.
  std::shared_ptr<Preconditioner<S>> made(PreconditionerKind preconditioner) const {
    if (preconditioner == PreconditionerKind::none) return nullptr;
    return std::make_shared<Jacobi<E>>(matrix_);
  }

  Operator<E> matrix_;
};

}  // namespace

AnyOperator::AnyOperator(const AnyMatrix& matrix, const Plan& plan, const Device& device) {
  std::shared_ptr<Implementation> made;
  if (matrix.is_defined()) {
    made = matrix.visit_defined([&]<class S>(const DefinedMatrix<S>& m) {
      return detail::make_defined_operator(m, plan, device);
    });
  } else {
    made = matrix.visit([&]<class E>(const CsrMatrix<E>& m) -> std::shared_ptr<Implementation> {
      return std::make_shared<OperatorOver<E>>(m, plan, device);
    });
  }
  made->entry = matrix.entry();
  implementation_ = std::move(made);
}

const AnyOperator::Implementation& AnyOperator::implementation() const {
  if (!implementation_) detail::refuse_moved_from();
  return *implementation_;
}

AnyOperator AnyOperator::scheduled(const Plan& plan) const {
  std::shared_ptr<Implementation> made = implementation().scheduled(plan);
  made->entry = implementation().entry;
  return AnyOperator(std::shared_ptr<const Implementation>(std::move(made)));
}

AnyEntry AnyOperator::entry() const { return implementation().entry; }
Precision AnyOperator::precision() const { return implementation().precision; }
Index AnyOperator::rows() const { return implementation().rows; }
Index AnyOperator::columns() const { return implementation().columns; }
const Plan& AnyOperator::plan() const { return implementation().plan; }
const MemoryUse& AnyOperator::memory() const { return implementation().memory; }
long long AnyOperator::compulsory_bytes() const { return implementation().compulsory_bytes; }
long long AnyOperator::bytes_of_product() const { return implementation().bytes_of_product; }
long long AnyOperator::bytes_of_value_update() const {
  return implementation().bytes_of_value_update;
}

AnyField AnyOperator::row_field() const {
  return {rows(), implementation().row_components, precision(), implementation().device};
}
AnyField AnyOperator::column_field() const {
  return {columns(), implementation().column_components, precision(), implementation().device};
}
void AnyOperator::apply(const AnyField& x, AnyField& y) const { implementation().apply(x, y); }
std::unique_ptr<AnyOperator::Product> AnyOperator::product(const AnyField& x) const {
  return implementation().product(x);
}
std::unique_ptr<AnyOperator::Iterations> AnyOperator::iterations(const MethodInfo& method,
                                                                 PreconditionerKind preconditioner,
                                                                 const SolverOptions& options,
                                                                 const AnyField& b) const {
  return implementation().iterations(method, preconditioner, options, b);
}
std::unique_ptr<AnyOperator::Work> AnyOperator::value_update(const AnyMatrix& matrix) const {
  return implementation().value_update(matrix);
}

AnySolver::AnySolver(const AnyOperator& matrix, const MethodInfo& method,
                     PreconditionerKind preconditioner, const SolverOptions& options)
    : implementation_(matrix.implementation().solver(method, preconditioner, options)) {}
AnySolver::~AnySolver() = default;
Report AnySolver::solve(const AnyField& b, AnyField& x) { return implementation_->solve(b, x); }
const std::vector<double>& AnySolver::history() const { return implementation_->history(); }

}  // namespace heddle
