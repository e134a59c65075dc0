// GMRES(m) from cuSPARSE and cuBLAS calls: Gram-Schmidt twice, each as two products with a tall
// matrix; scalars stay on the device, and the host waits only once a cycle.
#pragma once

#include <complex>
#include <vector>

#include "textbook_loop_cuda.hpp"

namespace heddle::bench {

/// Saad, Iterative Methods for Sparse Linear Systems, algorithm 9.5, preconditioned from the right.
template <class S, class T>
class GmresLoop final : public TextbookLoop<S, T> {
 public:
  GmresLoop(const TextbookSystem<S>& system, TextbookForm form, const Device& device)
      : TextbookLoop<S, T>(system, form, device),
        preconditioned_(this->preconditioned() ? this->size() : 0, device),
        update_(this->size(), device),
        basis_(this->size() * (cycle + 1), device),
        columns_(cycle * (cycle + 1), device),
        second_(cycle + 1, device),
        solution_(cycle, device),
        norms_(cycle + 1, device),
        factor_(1, device),
        constants_(constants(), device) {}

 protected:
  int iterations_between_looks() const override { return cycle; }

  void begin() override {
    this->clear(this->x());
    this->copy(this->b(), this->r());
    begin_cycle();
  }

  void iterate(int j) override {
    S* const w = vector(j + 1);
    this->multiply(with_preconditioner(vector(j)), w);
    T* const h = columns_.data() + j * (cycle + 1);
    products(j + 1, w, h);
    combine(minus_one(), j + 1, h, w);
    products(j + 1, w, second_.data());
    combine(minus_one(), j + 1, second_.data(), w);
    check(this->blas().axpy(this->handle(), j + 1, one(), second_.data(), 1, h, 1), "cublas axpy");
    normalize(w, j + 1);
  }

  /// x += M^-1 V y for the y of the least residual, and r = b - A x.
  void finish(int iterations) override {
    const std::vector<T> y = least_squares(iterations);
    cuda::check(cudaMemcpyAsync(solution_.data(), y.data(), y.size() * sizeof(T),
                                cudaMemcpyHostToDevice, this->stream().queue),
                "cudaMemcpyAsync");
    this->clear(update_);
    combine(one(), iterations, solution_.data(), update_.data());
    axpy(one(), with_preconditioner(update_.data()), this->x());
    this->multiply(this->x().data(), update_.data());
    this->copy(this->b(), this->r());
    axpy(minus_one(), update_.data(), this->r());
    begin_cycle();
  }

 private:
  using Complex = std::complex<double>;
  static constexpr int cycle = 30;

  static std::vector<T> constants() {
    std::vector<T> numbers(3);
    reinterpret_cast<S&>(numbers[0]) = 1;
    reinterpret_cast<S&>(numbers[1]) = -1;
    return numbers;
  }
  const T* one() const { return constants_.data(); }
  const T* minus_one() const { return constants_.data() + 1; }
  const T* zero() const { return constants_.data() + 2; }

  S* vector(int k) { return basis_.data() + static_cast<std::size_t>(k) * this->size(); }
  const S* with_preconditioner(const S* of) {
    if (!this->preconditioned()) return of;
    this->precondition(of, preconditioned_.data());
    return preconditioned_.data();
  }
  void axpy(const T* factor, const S* from, Array<S>& to) {
    check(
        this->blas().axpy(this->handle(), this->length(), factor, reinterpret_cast<const T*>(from),
                          1, reinterpret_cast<T*>(to.data()), 1),
        "cublas axpy");
  }

  /// to = V* w
  void products(int vectors, const S* w, T* to) {
    gemv(std::is_same_v<S, T> ? CUBLAS_OP_T : CUBLAS_OP_C, vectors, one(),
         reinterpret_cast<const T*>(w), zero(), to);
  }
  /// to += V y, times `factor`
  void combine(const T* factor, int vectors, const T* y, S* to) {
    gemv(CUBLAS_OP_N, vectors, factor, y, one(), reinterpret_cast<T*>(to));
  }
  void gemv(cublasOperation_t operation, int vectors, const T* alpha, const T* x, const T* beta,
            T* y) {
    check(this->blas().gemv(this->handle(), operation, this->length(), vectors, alpha,
                            reinterpret_cast<const T*>(basis_.data()), this->length(), x, 1, beta,
                            y, 1),
          "cublas gemv");
  }

  void begin_cycle() {
    cuda::check(cudaMemcpyAsync(vector(0), this->r().data(), this->size() * sizeof(S),
                                cudaMemcpyDeviceToDevice, this->stream().queue),
                "cudaMemcpyAsync");
    normalize(vector(0), 0);
  }
  void normalize(S* w, int k) {
    check(this->blas().nrm2(this->handle(), this->length(), reinterpret_cast<const T*>(w), 1,
                            norms_.data() + k),
          "cublas nrm2");
    invert_on_gpu(norms_.data() + k, factor_.data(), this->stream());
    check(this->blas().scal(this->handle(), this->length(), factor_.data(), reinterpret_cast<T*>(w),
                            1),
          "cublas scal");
  }

  static Complex wide(const T& number) {
    if constexpr (std::is_same_v<S, T>) {
      return static_cast<double>(number);
    } else {
      return {static_cast<double>(number.x), static_cast<double>(number.y)};
    }
  }

  /// The y that minimises | |r| e_1 - H y |, by rotations; waits for H.
  std::vector<T> least_squares(int count) const {
    const std::vector<T> columns = columns_.to_host();
    const auto norms = norms_.to_host();
    const auto at = [](int i, int j) { return static_cast<std::size_t>(j * (cycle + 1) + i); };
    std::vector<Complex> H(columns.size()), g(cycle + 1);
    g[0] = static_cast<double>(norms[0]);
    for (int j = 0; j < count; ++j) {
      for (int i = 0; i <= j; ++i) H[at(i, j)] = wide(columns[at(i, j)]);
      H[at(j + 1, j)] = static_cast<double>(norms[static_cast<std::size_t>(j + 1)]);
    }
    for (int k = 0; k < count; ++k) {
      const Complex a = H[at(k, k)], b = H[at(k + 1, k)];
      const double length = std::hypot(std::abs(a), std::abs(b));
      if (length == 0) continue;
      const Complex c = a / length, s = b / length;
      const auto rotate = [&](Complex& upper, Complex& lower) {
        const Complex rotated = std::conj(c) * upper + std::conj(s) * lower;
        lower = c * lower - s * upper;
        upper = rotated;
      };
      for (int j = k; j < count; ++j) rotate(H[at(k, j)], H[at(k + 1, j)]);
      rotate(g[static_cast<std::size_t>(k)], g[static_cast<std::size_t>(k + 1)]);
    }
    std::vector<T> y(static_cast<std::size_t>(count));
    for (int k = count; k-- > 0;) {
      Complex& number = g[static_cast<std::size_t>(k)];
      for (int j = k + 1; j < count; ++j) number -= H[at(k, j)] * g[static_cast<std::size_t>(j)];
      const Complex pivot = H[at(k, k)];
      number = pivot == Complex(0) ? Complex(0) : number / pivot;
      T& narrow = y[static_cast<std::size_t>(k)];
      if constexpr (std::is_same_v<S, T>) {
        narrow = static_cast<S>(number.real());
      } else {
        narrow = {static_cast<S>(number.real()), static_cast<S>(number.imag())};
      }
    }
    return y;
  }

  Array<S> preconditioned_, update_, basis_;
  Array<T> columns_, second_, solution_;
  Array<real_of_t<T>> norms_;
  Array<T> factor_, constants_;
};

}  // namespace heddle::bench
