// The inverse of a multigrid's coarsest level, and products with it.
#include <cmath>

#include "heddle/choose_plan.hpp"
#include "peers/own_product.hpp"
#include "primitives_cuda.hpp"
#include "solvers/multigrid/level_operators.hpp"
#include "solvers/tiles/tile_values_cuda.hpp"

namespace heddle::bench {

namespace primitives {
namespace {

/// A = D + u u^T, whose inverse is known (Sherman, Morrison 1950).
class CoarseMatrix {
 public:
  CoarseMatrix(Session& session, const Problem& problem)
      : session_(session),
        problem_(problem),
        device_(session.device()),
        n_(problem.matrix.rows() > many_rows ? 2000 : 500) {
    const auto n = static_cast<std::size_t>(n_);
    std::vector<double> u(n), d(n);
    double sum = 1;
    for (std::size_t i = 0; i < n; ++i) {
      u[i] = random_component(8, i) / std::sqrt(double(n_));
      d[i] = 1.5 + 0.5 * random_component(9, i);
      sum += u[i] * u[i] / d[i];
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        matrix_.push_back((i == j ? d[i] : 0) + u[i] * u[j]);
        inverse_.values.push_back((i == j ? 1 / d[i] : 0) - u[i] / d[i] * (u[j] / d[j]) / sum);
      }
      x_.push_back(random_component(10, i));
    }
  }

  void measure_all() {
    invert();
    apply();
  }

 private:
  static constexpr Index many_rows = 100'000;

  /// Rows that are all full.
  CsrMatrix<real<double>> full(const std::vector<double>& values) const {
    const auto n = static_cast<std::size_t>(n_);
    Array<Offset> offsets(n + 1);
    Array<Index> column(n * n);
    for (std::size_t i = 0; i <= n; ++i) offsets[i] = static_cast<Offset>(i * n);
    for (std::size_t at = 0; at < n * n; ++at) column[at] = static_cast<Index>(at % n);
    return {n_, n_, std::move(offsets), std::move(column),
            Array<double>(std::span<const double>(values))};
  }

  /// Elimination as set-up queues it, and an LU factorisation with the inverse of its factors.
  void invert() {
    const auto n = static_cast<std::size_t>(n_);
    const CsrMatrix<real<double>> matrix = full(matrix_);
    const Array<Offset> offsets(matrix.offsets().span(), device_);
    const Array<Index> column(matrix.column().span(), device_);
    const Array<double> values(matrix.values().span(), device_);
    constexpr auto panel_rows = static_cast<std::size_t>(device::rows_of_panel<Ring::real>);
    Array<double> dense(n * n, device_), other(n * n, device_), panel(panel_rows * n, device_),
        sizes(n, device_), result(n * n, device_);
    Array<int> doubt(1, device_);
    device::DenseInverse elimination;
    elimination.a = {n_, offsets.data(), column.data()};
    elimination.values = values.data();
    elimination.dense = dense.data(), elimination.other = other.data();
    elimination.panel = panel.data(), elimination.own = sizes.data();
    elimination.result = result.data();
    elimination.n = n_;
    const auto found = [&] { return on_host(result.data(), n * n, device_); };
    const Queue spoil = spoiling(result.data(), n * n);
    const auto eliminate = [&](const Stream& stream) {
      cuda::invert_dense(elimination, ring_size(Ring::real), doubt.data(), stream);
    };
    const auto by_factors = [&] { return waiting(factors(values, dense, result), device_); };
    std::vector<TimedWay> ways = {
        own("Gauss-Jordan", waiting(eliminate, device_), found, inverse_, spoil),
        by_cublas("getrfBatched, getriBatched", by_factors, found, inverse_, spoil)};
    for (TimedWay& each : ways) each.on_host = true;
    add("inverse", 2, ways);
  }

  Queue factors(const Array<double>& values, Array<double>& factored, Array<double>& result) {
    double* const pointers[] = {factored.data(), result.data()};
    return [this, &values, &factored, blas = std::make_shared<Blas<double>>(device_),
            at = std::make_shared<Array<double*>>(std::span<double* const>(pointers), device_),
            pivots = std::make_shared<Array<int>>(static_cast<std::size_t>(n_) + 1, device_)](
               const Stream& stream) {
      heddle::detail::copy_bytes(factored.data(), values.data(), values.size() * sizeof(double),
                                 stream);
      int* const info = pivots->data() + n_;
      check(cublas().factor(blas->on(stream), n_, at->data(), n_, pivots->data(), info, 1),
            "cublasDgetrfBatched");
      check(cublas().invert(blas->on(stream), n_, at->data(), n_, pivots->data(), at->data() + 1,
                            n_, info, 1),
            "cublasDgetriBatched");
    };
  }

  /// The product with the inverse under the plan that a level has for it.
  void apply() {
    const CsrMatrix<real<double>> rows = full(inverse_.values);
    Plan plan = choose_plan(rows, device_);
    plan.schedule.kind = ScheduleKind::full;
    plan = heddle::detail::plan_of_rows(n_, Offset(n_) * n_, plan);
    const Problem inverse{.name = problem_.name, .matrix = AnyMatrix(rows), .plans = {}, .x = x_};
    const Expected expected{reference_product(inverse, x_)};
    const Array<double> a(std::span<const double>(inverse_.values), device_),
        x(std::span<const double>(x_), device_);
    Array<double> y(x_.size(), device_);
    const auto by_gemv = [&]() -> Queue {
      return [&, blas = std::make_shared<Blas<double>>(device_)](const Stream& stream) {
        check(blas->calls().gemv(blas->on(stream), CUBLAS_OP_T, n_, n_, blas->one.data(), a.data(),
                                 n_, x.data(), 1, blas->zero.data(), y.data(), 1),
              "cublasDgemv");
      };
    };
    add("product with an inverse", 1,
        {way_of(Role::chosen, "Heddle", to_string(plan),
                [&](TimedWay& made) {
                  const OwnProduct product = own_product(inverse, plan, device_);
                  made = own(to_string(plan), product.queue, product.result, expected, {});
                }),
         by_cublas(
             "gemv", by_gemv, [&] { return on_host(y.data(), y.size(), device_); }, expected,
             spoiling(y.data(), y.size()))});
  }

  void add(const std::string& what, int matrices_moved, const std::vector<TimedWay>& ways) {
    const Offset numbers = Offset(n_) * n_;
    const std::string quantity = what + " of " + std::to_string(n_) + " rows";
    Record record =
        record_of<Ring::real, double>(problem_, quantity, numbers, numbers * matrices_moved);
    record.rows = n_;
    session_.add(measured(session_, std::move(record), ways));
  }

  Session& session_;
  const Problem& problem_;
  Device device_;
  int n_;
  std::vector<double> matrix_, x_;  // row by row; it and its inverse are symmetric
  Expected inverse_;
};

}  // namespace
}  // namespace primitives

void dense_primitives(Session& session, const Problem& problem) {
  primitives::CoarseMatrix(session, problem).measure_all();
}

}  // namespace heddle::bench
