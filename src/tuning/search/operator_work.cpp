#include "heddle/tuning/operator_work.hpp"

#include <utility>

#include "solvers/operators/operator_field.hpp"

namespace heddle {

namespace {

using detail::OperatorField;
using detail::SlicedOperator;

template <class S>
class ProductOver final : public ProductWork {
 public:
  ProductOver(const SlicedOperator<S>& matrix, const AnyField& x)
      : matrix_(matrix), x_(detail::column_field_of(matrix)), y_(detail::row_field_of(matrix)) {
    permute<S>(x.view<S>(), x_.view, S(1), matrix.device().stream());
  }
  void run(const Stream& stream) override {
    matrix_.iterated().apply(S(1), x_.view, S(0), y_.view, stream);
  }
  void take(AnyField& y) const override {
    permute<S>(y_.view, y.view<S>(), S(1), matrix_.device().stream());
    matrix_.device().synchronize();
  }

 private:
  SlicedOperator<S> matrix_;
  OperatorField<S> x_, y_;
};

template <class S>
class ValueUpdate final : public OperatorWork {
 public:
  ValueUpdate(const SlicedOperator<S>& matrix, std::span<const std::byte> values)
      : matrix_(matrix), values_(values, matrix.device()) {}
  void run(const Stream& stream) override {
    matrix_.place_values(values_.span(), ComponentOrder::row_major, stream);
  }

 private:
  SlicedOperator<S> matrix_;
  Array<std::byte> values_;
};

template <class S>
class IterationsOver final : public IterationWork {
 public:
  IterationsOver(const LinearOperator<S>& matrix, AnySolver solver, const SolverOptions& options,
                 const AnyField& b)
      : stream_(matrix.device().stream()),
        options_(options),
        solver_(std::move(solver)),
        b_(detail::row_field_of(matrix)),
        x_(detail::column_field_of(matrix)) {
    permute<S>(b.view<S>(), b_.view, S(1), stream_);
  }
  Report run(long long iterations) override {
    KrylovSolver<S>& solver = solver_.template solver<S>();
    if (options_.max_iterations != iterations) {
      options_.max_iterations = iterations;
      solver.set_options(options_);
    }
    fill<S>(S(0), x_.view, stream_);
    return solver.solve(b_.view, x_.view);
  }
  void take(AnyField& x) const override { permute<S>(x_.view, x.view<S>(), S(1), stream_); }

 private:
  Stream stream_;
  SolverOptions options_;
  AnySolver solver_;
  OperatorField<S> b_, x_;
};

}  // namespace

std::unique_ptr<ProductWork> product_work(const AnyOperator& matrix, const AnyField& x) {
  return matrix.visit([&]<class S>(const SlicedOperator<S>& A) -> std::unique_ptr<ProductWork> {
    return std::make_unique<ProductOver<S>>(A, x);
  });
}

std::unique_ptr<OperatorWork> value_update_work(const AnyOperator& built, const AnyMatrix& matrix) {
  return built.visit([&]<class S>(const SlicedOperator<S>& A) -> std::unique_ptr<OperatorWork> {
    if (matrix.entry().name() != built.entry().name() || matrix.precision() != built.precision() ||
        matrix.entries() != A.pattern().entries) {
      throw Error(ErrorKind::usage,
                  "the values are not those of the matrix the operator was made of");
    }
    return std::make_unique<ValueUpdate<S>>(A, matrix.values());
  });
}

long long bytes_of_value_update(const AnyOperator& matrix) {
  return matrix.visit([](const auto& A) {
    const SlicedPattern& pattern = A.pattern();
    const bool mapped = !pattern.entry_of_slot.is_identity();
    return 2 * pattern.entries * A.entry().bytes() +
           (mapped ? EntryMap::bytes(pattern.entries, pattern.entries) : 0);
  });
}

std::unique_ptr<IterationWork> iteration_work(const AnyLinearOperator& matrix,
                                              const MethodInfo& method,
                                              const ComposedChoice& preconditioner,
                                              const SolverOptions& options, const AnyField& b) {
  AnySolver solver(matrix, method, preconditioner, options);
  return matrix.visit([&]<class S>(const std::shared_ptr<const LinearOperator<S>>& A)
                          -> std::unique_ptr<IterationWork> {
    return std::make_unique<IterationsOver<S>>(*A, std::move(solver), options, b);
  });
}

}  // namespace heddle
