// Gram matrices and combinations of blocks of fields.
#include "primitives_cuda.hpp"
#include "solvers/blocks/field_block_cuda.hpp"

namespace heddle::bench {

namespace primitives {
namespace {

/// Blocks of fields that lie one after another, as columns of cuBLAS's matrices.
template <Ring R, class S>
class Blocks {
 public:
  using T = BlasNumber<R, S>;
  static constexpr int r = ring_size(R), most = 32;

  Blocks(Session& session, const Problem& problem)
      : session_(session),
        problem_(problem),
        device_(session.device()),
        n_(problem.matrix.rows()),
        u_(scalars(most), 5, device_),
        v_(scalars(most), 6, device_),
        c_(most * most * r, 7, device_),
        to_(scalars(most), device_),
        partials_(static_cast<std::size_t>(cuda::partials_of_block(Offset{most} * most * r)),
                  device_),
        results_(static_cast<std::size_t>(most * most * r), device_) {}

  void measure_all() {
    sum_products();
    for (const int k : {4, 8, 16, 32}) gram(k);
    for (const int k : {4, 8, 16, 32}) combination(k);
  }

 private:
  std::size_t scalars(int fields) const {
    return static_cast<std::size_t>(n_) * static_cast<std::size_t>(fields * r);
  }
  template <class U>
  std::vector<FieldView<U>> fields(U* data, int count) const {
    std::vector<FieldView<U>> views;
    views.reserve(static_cast<std::size_t>(count));
    for (int j = 0; j < count; ++j) views.emplace_back(data + scalars(j), n_, r);
    return views;
  }

  /// The Gram matrix of all fields.
  void sum_products() {
    products_.resize(static_cast<std::size_t>(most * most * r));
    parallel_for(default_threads(), most * most, 1, [&](int at) {
      long double sums[2] = {};
      add_products<R>(u_.host.data() + scalars(at % most), v_.host.data() + scalars(at / most),
                      static_cast<std::size_t>(n_), sums);
      std::copy_n(sums, r, products_.begin() + Offset(at) * r);
    });
  }

  void gram(int k) {
    std::vector<double> products;
    for (int j = 0; j < k; ++j) {
      const auto column = products_.begin() + Offset(j) * most * r;
      products.insert(products.end(), column, column + Offset(k) * r);
    }
    const Expected expected =
        expected_sums(std::move(products), std::span<const S>(u_.host).first(scalars(k)),
                      std::span<const S>(v_.host).first(scalars(k)));
    const auto u = fields(u_.gpu.data(), k), v = fields(v_.gpu.data(), k);
    const auto numbers = static_cast<std::size_t>(k * k * r);
    Array<S> product(numbers, device_);
    const auto of_blas = [&] { return on_host(product.data(), numbers, device_); };
    const Queue spoil = spoiling(product.data(), numbers);
    const auto own_gram = [&](const Stream& stream) {
      cuda::gram<R, S>(u, v, false, partials_.data(), results_.data(), stream);
    };
    add("Gram matrix", k,
        {own(
             "", own_gram, [&] { return on_host(results_.data(), numbers, device_); }, expected,
             spoiling(results_.data(), numbers)),
         by_cublas(
             "gemm", [&] { return gemm(k, product); }, of_blas, expected, spoil),
         by_cublas(
             "gemm in parts", [&] { return gemm_in_parts(k, product); }, of_blas, expected,
             spoil)});
  }

  static constexpr cublasOperation_t adjoint = R == Ring::real ? CUBLAS_OP_T : CUBLAS_OP_C;

  Queue gemm(int k, Array<S>& product) {
    return [this, k, to = as_blas<R, S>(product.data()),
            blas = std::make_shared<Blas<T>>(device_)](const Stream& stream) {
      check(blas->calls().gemm(blas->on(stream), adjoint, CUBLAS_OP_N, k, k, n_, blas->one.data(),
                               as_blas<R, S>(u_.gpu.data()), n_, as_blas<R, S>(v_.gpu.data()), n_,
                               blas->zero.data(), to, k),
            "cublas<t>gemm");
    };
  }

  /// Parts of the rows that fill a GPU, and their sum as a product with ones.
  Queue gemm_in_parts(int k, Array<S>& product) {
    constexpr int parts = 64;
    if (n_ % parts != 0) throw Error(ErrorKind::unsupported, "the rows have no 64 equal parts");
    std::vector<T> ones(parts);
    for (T& one : ones) reinterpret_cast<S&>(one) = 1;
    return [this, k, to = as_blas<R, S>(product.data()),
            sums = std::make_shared<Array<T>>(static_cast<std::size_t>(k * k * parts), device_),
            all = std::make_shared<Array<T>>(std::span<const T>(ones), device_),
            blas = std::make_shared<Blas<T>>(device_)](const Stream& stream) {
      const int rows = n_ / parts;
      check(blas->calls().gemm_strided_batched(blas->on(stream), adjoint, CUBLAS_OP_N, k, k, rows,
                                               blas->one.data(), as_blas<R, S>(u_.gpu.data()), n_,
                                               rows, as_blas<R, S>(v_.gpu.data()), n_, rows,
                                               blas->zero.data(), sums->data(), k, k * k, parts),
            "cublas<t>gemmStridedBatched");
      check(blas->calls().gemv(blas->on(stream), CUBLAS_OP_N, k * k, parts, blas->one.data(),
                               sums->data(), k * k, all->data(), 1, blas->zero.data(), to, 1),
            "cublas<t>gemv");
    };
  }

  void combination(int k) {
    const Expected expected{combined(k)};
    const auto from = fields(u_.gpu.data(), k), to = fields(to_.data(), k);
    const auto result = [&] { return on_host(to_.data(), scalars(k), device_); };
    const Queue spoil = spoiling(to_.data(), scalars(k));
    const auto own_combination = [&](const Stream& stream) {
      cuda::combine<R, S>(from, c_.gpu.data(), to, false, stream);
    };
    const auto by_gemm = [&]() -> Queue {
      return [this, k, blas = std::make_shared<Blas<T>>(device_)](const Stream& stream) {
        check(blas->calls().gemm(blas->on(stream), CUBLAS_OP_N, CUBLAS_OP_N, n_, k, k,
                                 blas->one.data(), as_blas<R, S>(u_.gpu.data()), n_,
                                 as_blas<R, S>(c_.gpu.data()), k, blas->zero.data(),
                                 as_blas<R, S>(to_.data()), n_),
              "cublas<t>gemm");
      };
    };
    add("combination", k,
        {own("", own_combination, result, expected, spoil),
         by_cublas("gemm", by_gemm, result, expected, spoil)});
  }

  /// U C in double, for k fields and the first k k numbers of C.
  std::vector<double> combined(int k) const {
    std::vector<double> result(scalars(k));
    const auto row_scalars = static_cast<std::size_t>(n_) * r;
    parallel_for(default_threads(), n_, 4096, [&](Index row) {
      const std::size_t at = static_cast<std::size_t>(row) * r;
      for (int j = 0; j < k; ++j) {
        double* const to = result.data() + static_cast<std::size_t>(j) * row_scalars + at;
        for (int i = 0; i < k; ++i) {
          const S* const u = u_.host.data() + static_cast<std::size_t>(i) * row_scalars + at;
          const S* const c = c_.host.data() + (j * k + i) * r;
          to[0] += double(u[0]) * c[0];
          if constexpr (R == Ring::complex) {
            to[0] -= double(u[1]) * c[1];
            to[1] += double(u[0]) * c[1] + double(u[1]) * c[0];
          }
        }
      }
    });
    return result;
  }

  void add(const std::string& quantity, int k, const std::vector<TimedWay>& ways) {
    const Offset numbers = Offset(n_) * k;
    session_.add(
        measured(session_,
                 record_of<R, S>(problem_, quantity + " of " + std::to_string(k) + " fields",
                                 numbers, 2 * numbers),
                 ways));
  }

  Session& session_;
  const Problem& problem_;
  Device device_;
  Index n_;
  Numbers<S> u_, v_, c_;
  Array<S> to_;
  Array<double> partials_, results_;
  std::vector<double> products_;
};

}  // namespace
}  // namespace primitives

void block_primitives(Session& session, const Problem& problem) {
  using primitives::Blocks;
  Blocks<Ring::real, double>(session, problem).measure_all();
  Blocks<Ring::complex, double>(session, problem).measure_all();
  Blocks<Ring::real, float>(session, problem).measure_all();
  Blocks<Ring::complex, float>(session, problem).measure_all();
}

}  // namespace heddle::bench
