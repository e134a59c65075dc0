// What AnyOperator and AnySolver hand their calls to: one implementation for built-in entries, one
// for definitions.
#pragma once

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/gmres.hpp"
#include "heddle/minres.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "method_rows.hpp"

namespace heddle {

class AnySolver::Implementation {
 public:
  virtual ~Implementation() = default;
  virtual Report solve(const AnyField& b, AnyField& x) = 0;
  virtual const std::vector<double>& history() const = 0;
};

class AnyOperator::Implementation {
 public:
  AnyEntry entry = EntryKind::real;
  Precision precision = Precision::double_precision;
  Index rows = 0;
  Index columns = 0;
  int row_components = 1;
  int column_components = 1;
  Device device;
  Plan plan;
  MemoryUse memory;
  long long compulsory_bytes = 0;
  long long bytes_of_product = 0;
  long long bytes_of_value_update = 0;

  virtual ~Implementation() = default;
  virtual std::shared_ptr<Implementation> scheduled(const Plan& plan) const = 0;
  virtual void apply(const AnyField& x, AnyField& y) const = 0;
  virtual std::unique_ptr<Product> product(const AnyField& x) const = 0;
  virtual std::unique_ptr<Work> value_update(const AnyMatrix& matrix) const = 0;
  virtual std::unique_ptr<AnySolver::Implementation> solver(const MethodInfo& method,
                                                            PreconditionerKind preconditioner,
                                                            const SolverOptions& options) const = 0;
  virtual std::unique_ptr<Iterations> iterations(const MethodInfo& method,
                                                 PreconditionerKind preconditioner,
                                                 const SolverOptions& options,
                                                 const AnyField& b) const = 0;
};

namespace detail {

template <class S>
constexpr Precision precision_of =
    std::is_same_v<S, float> ? Precision::single_precision : Precision::double_precision;

template <class S>
class SolverOver final : public AnySolver::Implementation {
 public:
  explicit SolverOver(std::unique_ptr<KrylovSolver<S>> solver) : solver_(std::move(solver)) {}
  Report solve(const AnyField& b, AnyField& x) override {
    return solver_->solve(b.view<S>(), x.view<S>());
  }
  const std::vector<double>& history() const override { return solver_->history(); }

 private:
  std::unique_ptr<KrylovSolver<S>> solver_;
};

template <class S>
class IterationsOver final : public AnyOperator::Iterations {
 public:
  IterationsOver(const LinearOperator<S>& matrix, std::unique_ptr<KrylovSolver<S>> solver,
                 const SolverOptions& options, const AnyField& b)
      : stream_(matrix.device().stream()),
        options_(options),
        solver_(std::move(solver)),
        scalars_{
            Array<S>(static_cast<std::size_t>(Offset(b.rows()) * b.components()), matrix.device()),
            Array<S>(static_cast<std::size_t>(Offset(b.rows()) * b.components()), matrix.device())},
        b_(scalars_[0].data(), b.rows(), b.components(), matrix.vector_layout(),
           matrix.row_basis()),
        x_(scalars_[1].data(), b.rows(), b.components(), matrix.vector_layout(),
           matrix.column_basis()) {
    permute<S>(b.view<S>(), b_, S(1), stream_);
  }
  Report run(long long iterations) override {
    if (options_.max_iterations != iterations) {
      options_.max_iterations = iterations;
      solver_->set_options(options_);
    }
    fill<S>(S(0), x_, stream_);
    return solver_->solve(b_, x_);
  }
  void take(AnyField& x) const override { permute<S>(x_, x.view<S>(), S(1), stream_); }

 private:
  Stream stream_;
  SolverOptions options_;
  std::unique_ptr<KrylovSolver<S>> solver_;
  Array<S> scalars_[2];
  FieldView<S> b_;
  FieldView<S> x_;
};

/// The method of the table on `matrix`; without a preconditioner where that is null.
template <class S>
std::unique_ptr<KrylovSolver<S>> solver_over(const LinearOperator<S>& matrix,
                                             const MethodInfo& method,
                                             std::shared_ptr<Preconditioner<S>> preconditioner,
                                             const SolverOptions& options) {
  if (method.name == method_rows::conjugate_gradient.name) {
    return std::make_unique<ConjugateGradient<S>>(matrix, std::move(preconditioner), options);
  }
  if (method.name == method_rows::minres.name) {
    return std::make_unique<Minres<S>>(matrix, std::move(preconditioner), options);
  }
  if (method.name == method_rows::gmres.name) {
    return std::make_unique<Gmres<S>>(matrix, std::move(preconditioner), options);
  }
  if (method.name == method_rows::bicgstab.name) {
    return std::make_unique<BiCGStab<S>>(matrix, std::move(preconditioner), options);
  }
  throw Error(ErrorKind::internal, std::string(method.name) + " has no solver");
}

/// Of a matrix whose entry is a definition. S is float or double.
template <class S>
std::shared_ptr<AnyOperator::Implementation> make_defined_operator(const DefinedMatrix<S>& matrix,
                                                                   const Plan& plan,
                                                                   const Device& device);

}  // namespace detail

}  // namespace heddle
