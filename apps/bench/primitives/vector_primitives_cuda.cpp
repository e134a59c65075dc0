// Dots, updates and largest magnitudes of vectors.
#include <algorithm>
#include <cmath>

#include "cub_primitives_cuda.hpp"
#include "fields/vector_operations_cuda.hpp"
#include "primitives_cuda.hpp"

namespace heddle::bench {

namespace primitives {
namespace {

template <Ring R, class S>
class Vectors {
 public:
  using T = BlasNumber<R, S>;
  static constexpr int r = ring_size(R);

  Vectors(Session& session, const Problem& problem)
      : session_(session),
        problem_(problem),
        device_(session.device()),
        n_(problem.matrix.rows()),
        x_(scalars(), 1, device_),
        y_(scalars(), 2, device_),
        partials_(static_cast<std::size_t>(cuda::partials_of<R>(x()) * r), device_),
        finished_(1, device_),
        results_(r, device_) {}

  void measure_all() {
    dot();
    update();
    if constexpr (R == Ring::real) largest();
  }

 private:
  std::size_t scalars() const { return static_cast<std::size_t>(n_) * r; }
  FieldView<const S> x() const { return FieldView<const S>(x_.gpu.data(), n_, r); }
  DeviceSums sums() { return {partials_.data(), finished_.data(), results_.data()}; }
  void dot() {
    long double sums_of_products[2] = {};
    add_products<R>(x_.host.data(), y_.host.data(), static_cast<std::size_t>(n_), sums_of_products);
    const Expected expected =
        expected_sums<S>({sums_of_products, sums_of_products + r}, x_.host, y_.host);
    const FieldView<const S> y(y_.gpu.data(), n_, r);
    Array<S> found(r, device_);
    const auto result = [&] { return on_host(results_.data(), r, device_); };
    const Queue spoil = spoiling(results_.data(), r);
    std::vector<TimedWay> ways = {own(
        "", [&](const Stream& stream) { cuda::dot<R, S>(x(), y, sums(), stream); }, result,
        expected, spoil)};
    if constexpr (R == Ring::real) {
      ways.push_back(by_cub("DeviceReduce",
                            cub_dot(x_.gpu.data(), y_.gpu.data(), n_, results_.data(), device_),
                            result, expected, spoil));
    }
    const auto by_dot = [&]() -> Queue {
      return [&, blas = std::make_shared<Blas<T>>(device_)](const Stream& stream) {
        check(blas->calls().dot(blas->on(stream), n_, as_blas<R, S>(x_.gpu.data()), 1,
                                as_blas<R, S>(y_.gpu.data()), 1, as_blas<R, S>(found.data())),
              "cublas<t>dot");
      };
    };
    ways.push_back(by_cublas(
        "dot", by_dot, [&] { return on_host(found.data(), r, device_); }, expected,
        spoiling(found.data(), r)));
    add("dot", 2, ways);
  }

  /// y + x alpha for complex or real numbers.
  std::vector<double> updated(const S* alpha) const {
    std::vector<double> sum(scalars());
    for (std::size_t i = 0; i < scalars(); i += r) {
      const S *const x = x_.host.data() + i, *const y = y_.host.data() + i;
      sum[i] = double(y[0]) + double(x[0]) * alpha[0];
      if constexpr (R == Ring::complex) {
        sum[i] -= double(x[1]) * alpha[1];
        sum[i + 1] = double(y[1]) + double(x[0]) * alpha[1] + double(x[1]) * alpha[0];
      }
    }
    return sum;
  }

  /// y += x alpha; checked runs begin from the same y.
  void update() {
    heddle::Coefficient<R, S> alpha{};
    for (int k = 0; k < r; ++k) alpha.component[k] = static_cast<S>(0.5 - 0.25 * k);
    const Array<S> factor(std::span<const S>(alpha.component, r), device_);
    const Expected expected{updated(alpha.component)};
    Array<S> y(scalars(), device_);
    const Queue reset = [&](const Stream& stream) {
      heddle::detail::copy_bytes(y.data(), y_.gpu.data(), scalars() * sizeof(S), stream);
    };
    const auto result = [&] { return on_host(y.data(), scalars(), device_); };
    const FieldView<S> to(y.data(), n_, r);
    const auto own_update = [&](const Stream& stream) {
      cuda::axpby<R, S>(alpha, x(), heddle::Coefficient<R, S>::from_real(1), to, stream);
    };
    const auto by_axpy = [&]() -> Queue {
      return [&, blas = std::make_shared<Blas<T>>(device_)](const Stream& stream) {
        check(blas->calls().axpy(blas->on(stream), n_, as_blas<R, S>(factor.data()),
                                 as_blas<R, S>(x_.gpu.data()), 1, as_blas<R, S>(y.data()), 1),
              "cublas<t>axpy");
      };
    };
    add("update", 3,
        {own("", own_update, result, expected, reset),
         by_cublas("axpy", by_axpy, result, expected, reset)});
  }

  void largest() {
    double most = 0;
    for (const S number : x_.host) most = std::max(most, std::abs(double(number)));
    const Expected expected{{most}};
    const FieldView<const S> field(x_.gpu.data(), n_);
    const auto result = [&] { return on_host(results_.data(), 1, device_); };
    const Queue spoil = spoiling(results_.data(), 1);
    add("largest magnitude", 1,
        {own(
             "", [&](const Stream& stream) { cuda::largest_magnitude<S>(field, sums(), stream); },
             result, expected, spoil),
         by_cub("DeviceReduce", cub_largest_magnitude(x_.gpu.data(), n_, results_.data(), device_),
                result, expected, spoil)});
  }

  void add(const char* quantity, int vectors_moved, const std::vector<TimedWay>& ways) {
    session_.add(measured(
        session_, record_of<R, S>(problem_, quantity, n_, Offset(n_) * vectors_moved), ways));
  }

  Session& session_;
  const Problem& problem_;
  Device device_;
  Index n_;
  Numbers<S> x_, y_;
  Array<double> partials_;
  Array<unsigned> finished_;
  Array<double> results_;
};

}  // namespace
}  // namespace primitives

void vector_primitives(Session& session, const Problem& problem) {
  using primitives::Vectors;
  Vectors<Ring::real, double>(session, problem).measure_all();
  Vectors<Ring::complex, double>(session, problem).measure_all();
  Vectors<Ring::real, float>(session, problem).measure_all();
  Vectors<Ring::complex, float>(session, problem).measure_all();
}

}  // namespace heddle::bench
