#include "textbook_loops_cuda.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/cuda_call.hpp"
#include "heddle/array.hpp"
#include "heddle/error.hpp"
#include "heddle/report.hpp"
#include "nvidia_libraries_cuda.hpp"
#include "solvers/captured_graph_cuda.hpp"
#include "textbook_kernels_cuda.hpp"

namespace heddle::bench {

namespace {

template <class S, int parts>
struct NumberOf {
  using type = S;
};
template <>
struct NumberOf<float, 2> {
  using type = cuComplex;
};
template <>
struct NumberOf<double, 2> {
  using type = cuDoubleComplex;
};

int blas_length(std::size_t numbers) {
  if (numbers <= static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return static_cast<int>(numbers);
  }
  throw Error(ErrorKind::unsupported,
              "vectors of " + std::to_string(numbers) + " numbers are too long for cuBLAS's int");
}

/// Vectors, scalars and the calls on them; what an iteration is made of is up to the method.
template <class S, class T>
class Loop {
 public:
  Loop(const TextbookSystem<S>& system, TextbookForm form, const Device& device)
      : system_(system),
        form_(form),
        device_(device),
        stream_(device.stream()),
        blas_(device),
        scalars_on_gpu_(1, device),
        on_host_(device.stream()),
        b_(Array<S>(std::span<const S>(with_signs<S>(system.b, system.form)), device)),
        x_(b_.size(), device),
        r_(b_.size(), device),
        length_(blas_length(b_.size() * sizeof(S) / sizeof(T))),
        real_length_(blas_length(b_.size())) {
    blas_.set_pointer_mode(form == TextbookForm::host_scalars ? CUBLAS_POINTER_MODE_HOST
                                                              : CUBLAS_POINTER_MODE_DEVICE);
  }
  virtual ~Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Once, after construction: libraries allocate at first use, which no graph can hold.
  void prepare() {
    const cuda::OnGpu here(stream());
    begin();
    iterate();
    square_of(r_);
    device_.synchronize();
  }

  PeerSolve solve(double tolerance, long long max_iterations) {
    const cuda::OnGpu here(stream());
    if (form_ == TextbookForm::graph) {
      capture(textbook_iterations_between_looks);
      capture(max_iterations % textbook_iterations_between_looks);
    }
    device_.synchronize();
    PeerSolve solve;
    if (form_ == TextbookForm::host_scalars) solve.history.push_back(1);
    Status status = Status::iteration_limit;
    const auto start = std::chrono::steady_clock::now();
    const double b_norm = std::sqrt(square_of(b_));
    begin();
    while (solve.iterations < max_iterations) {
      solve.iterations += run(max_iterations - solve.iterations);
      const double relative = std::sqrt(residual_square()) / b_norm;
      if (form_ == TextbookForm::host_scalars) solve.history.push_back(relative);
      if (!std::isfinite(relative)) {
        status = Status::breakdown;
        break;
      }
      if (relative <= tolerance) {
        status = Status::converged;
        break;
      }
    }
    device_.synchronize();
    solve.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    solve.status = name(status);
    solve.x = without_signs(x_.to_host(), system_.form);
    return solve;
  }

 protected:
  /// Of the guess x = 0: residual, directions, scalars.
  virtual void begin() = 0;
  virtual void iterate() = 0;
  /// |r|^2 where the iteration has left it in the host's scalars.
  virtual std::optional<double> known_residual_square() const { return {}; }

  /// The device's, or one that is being captured.
  const Stream& stream() const { return stream_; }
  bool on_host() const { return form_ == TextbookForm::host_scalars; }
  bool preconditioned() const { return system_.inverse_diagonal != nullptr; }
  std::size_t size() const { return b_.size(); }
  const Device& device() const { return device_; }

  /// Where the library is to find and leave them.
  TextbookScalars<T>& scalars() { return on_host() ? *on_host_ : *scalars_on_gpu_.data(); }
  const TextbookScalars<T>& host_scalars() const { return *on_host_; }
  void set_scalars(const TextbookScalars<T>& values) {
    *on_host_ = values;
    if (on_host()) return;
    cuda::check(cudaMemcpyAsync(scalars_on_gpu_.data(), on_host_.get(), sizeof values,
                                cudaMemcpyHostToDevice, stream().queue),
                "cudaMemcpyAsync");
  }
  void compute(Coefficient which) {
    if (on_host()) {
      textbook::compute(which, *on_host_);
    } else {
      compute_on_gpu(which, scalars_on_gpu_.data(), stream());
    }
  }

  void multiply(const Array<S>& from, Array<S>& to) {
    system_.A->queue(from.data(), to.data(), stream());
  }
  void precondition(const Array<S>& from, Array<S>& to) {
    system_.inverse_diagonal->queue(from.data(), to.data(), stream());
  }
  void dot(const Array<S>& a, const Array<S>& b, T& result) {
    check(operations_.dot(blas_.on(stream()), length_, numbers(a), 1, numbers(b), 1, &result),
          "cublas dot");
  }
  void axpy(const T& factor, const Array<S>& from, Array<S>& to) {
    check(operations_.axpy(blas_.on(stream()), length_, &factor, numbers(from), 1, numbers(to), 1),
          "cublas axpy");
  }
  void scale(const T& factor, Array<S>& vector) {
    check(operations_.scal(blas_.on(stream()), length_, &factor, numbers(vector), 1),
          "cublas scal");
  }
  void copy(const Array<S>& from, Array<S>& to) {
    cuda::check(cudaMemcpyAsync(to.data(), from.data(), from.size() * sizeof(S),
                                cudaMemcpyDeviceToDevice, stream().queue),
                "cudaMemcpyAsync");
  }
  void clear(Array<S>& vector) {
    cuda::check(cudaMemsetAsync(vector.data(), 0, vector.size() * sizeof(S), stream().queue),
                "cudaMemsetAsync");
  }

  const Array<S>& b() const { return b_; }
  Array<S>& x() { return x_; }
  Array<S>& r() { return r_; }

 private:
  static const T* numbers(const Array<S>& array) {
    return reinterpret_cast<const T*>(array.data());
  }
  static T* numbers(Array<S>& array) { return reinterpret_cast<T*>(array.data()); }

  /// Iterations up to the next look, which it returns the number of.
  long long run(long long left) {
    if (form_ == TextbookForm::host_scalars) {
      iterate();
      return 1;
    }
    const long long count = std::min<long long>(left, textbook_iterations_between_looks);
    if (form_ == TextbookForm::graph) {
      graphs_.at(count).launch(stream());
    } else {
      for (long long i = 0; i < count; ++i) iterate();
    }
    return count;
  }

  /// So many iterations as a graph, unless it is there.
  void capture(long long iterations) {
    if (iterations == 0 || graphs_.contains(iterations)) return;
    graphs_.try_emplace(iterations, device_, [this, iterations](const Stream& capturing) {
      stream_ = capturing;
      for (long long i = 0; i < iterations; ++i) iterate();
    });
    stream_ = device_.stream();
  }

  double residual_square() {
    if (const auto known = known_residual_square()) return *known;
    return square_of(r_);
  }

  /// Waits for it.
  double square_of(const Array<S>& vector) {
    check(cublas().operations<S>().dot(blas_.on(stream()), real_length_, vector.data(), 1,
                                       vector.data(), 1, &scalars().square),
          "cublas dot");
    if (!on_host()) {
      cuda::check(cudaMemcpyAsync(&on_host_->square, &scalars_on_gpu_.data()->square,
                                  sizeof on_host_->square, cudaMemcpyDeviceToHost, stream().queue),
                  "cudaMemcpyAsync");
      cuda::check(cudaStreamSynchronize(stream().queue), "cudaStreamSynchronize");
    }
    return static_cast<double>(on_host_->square);
  }

  TextbookSystem<S> system_;
  TextbookForm form_;
  Device device_;
  Stream stream_;
  CuBlasHandle blas_;
  const CuBlasOperations<T>& operations_ = cublas().operations<T>();
  Array<TextbookScalars<T>> scalars_on_gpu_;
  cuda::Mapped<TextbookScalars<T>> on_host_;
  Array<S> b_, x_, r_;
  int length_;
  int real_length_;
  std::map<long long, cuda::CapturedGraph> graphs_;  // by their number of iterations
};

/// Saad, Iterative Methods for Sparse Linear Systems, algorithm 9.1.
template <class S>
class ConjugateGradientLoop final : public Loop<S, S> {
 public:
  ConjugateGradientLoop(const TextbookSystem<S>& system, TextbookForm form, const Device& device)
      : Loop<S, S>(system, form, device),
        p_(this->size(), device),
        q_(this->size(), device),
        preconditioned_(this->preconditioned() ? this->size() : 0, device) {}

 protected:
  void begin() override {
    this->clear(this->x());
    this->copy(this->b(), this->r());
    TextbookScalars<S> scalars{};
    scalars.one = 1;
    this->set_scalars(scalars);
    if (this->preconditioned()) this->precondition(this->r(), preconditioned_);
    this->copy(z(), p_);
    this->dot(this->r(), z(), this->scalars().rho);
  }
  void iterate() override {
    auto& s = this->scalars();
    this->multiply(p_, q_);
    this->dot(p_, q_, s.curvature);
    this->compute(Coefficient::step);
    this->axpy(s.alpha, p_, this->x());
    this->axpy(s.minus_alpha, q_, this->r());
    if (this->preconditioned()) this->precondition(this->r(), preconditioned_);
    this->dot(this->r(), z(), s.rho_next);
    this->compute(Coefficient::direction);
    this->scale(s.beta, p_);
    this->axpy(s.one, z(), p_);
  }
  std::optional<double> known_residual_square() const override {
    if (!this->on_host() || this->preconditioned()) return {};
    return static_cast<double>(this->host_scalars().rho);
  }

 private:
  /// M^-1 r.
  Array<S>& z() { return this->preconditioned() ? preconditioned_ : this->r(); }

  Array<S> p_, q_, preconditioned_;
};

/// Algorithm 7.7, preconditioned from the right.
template <class S, class T>
class BicgstabLoop final : public Loop<S, T> {
 public:
  BicgstabLoop(const TextbookSystem<S>& system, TextbookForm form, const Device& device)
      : Loop<S, T>(system, form, device),
        shadow_(this->size(), device),
        p_(this->size(), device),
        v_(this->size(), device),
        t_(this->size(), device),
        preconditioned_p_(this->preconditioned() ? this->size() : 0, device),
        preconditioned_s_(this->preconditioned() ? this->size() : 0, device) {}

 protected:
  void begin() override {
    this->clear(this->x());
    this->clear(p_);
    this->clear(v_);
    this->copy(this->b(), this->r());
    this->copy(this->b(), shadow_);
    TextbookScalars<T> scalars{};
    reinterpret_cast<S&>(scalars.one) = 1;  // of a complex number, its real part
    scalars.rho = scalars.alpha = scalars.omega = scalars.one;
    scalars.minus_omega = textbook::negative(scalars.one);
    this->set_scalars(scalars);
  }
  void iterate() override {
    auto& s = this->scalars();
    this->dot(shadow_, this->r(), s.rho_next);
    this->compute(Coefficient::bicgstab_direction);
    this->axpy(s.minus_omega, v_, p_);
    this->scale(s.beta, p_);
    this->axpy(s.one, this->r(), p_);
    Array<S>& p = with_preconditioner(p_, preconditioned_p_);
    this->multiply(p, v_);
    this->dot(shadow_, v_, s.curvature);
    this->compute(Coefficient::step);
    this->axpy(s.minus_alpha, v_, this->r());  // r is s from here on
    Array<S>& half_step = with_preconditioner(this->r(), preconditioned_s_);
    this->multiply(half_step, t_);
    this->dot(t_, this->r(), s.ts);
    this->dot(t_, t_, s.tt);
    this->compute(Coefficient::stabilising);
    this->axpy(s.alpha, p, this->x());
    this->axpy(s.omega, half_step, this->x());
    this->axpy(s.minus_omega, t_, this->r());
  }

 private:
  Array<S>& with_preconditioner(Array<S>& vector, Array<S>& result) {
    if (!this->preconditioned()) return vector;
    this->precondition(vector, result);
    return result;
  }

  Array<S> shadow_, p_, v_, t_, preconditioned_p_, preconditioned_s_;
};

template <class S, class T>
class DiagonalScaling final : public CuSparseProduct<S> {
 public:
  DiagonalScaling(const std::vector<S>& diagonal, const Device& device)
      : blas_(device),
        diagonal_(std::span<const S>(diagonal), device),
        length_(blas_length(diagonal.size() * sizeof(S) / sizeof(T))) {}

  void queue(const S* x, S* y, const Stream& stream) override {
    const cuda::OnGpu here(stream);
    check(cublas().operations<T>().dgmm(blas_.on(stream), CUBLAS_SIDE_LEFT, length_, 1,
                                        reinterpret_cast<const T*>(x), length_,
                                        reinterpret_cast<const T*>(diagonal_.data()), 1,
                                        reinterpret_cast<T*>(y), length_),
          "cublas dgmm");
  }
  long long memory_bytes() const override {
    return static_cast<long long>(diagonal_.size() * sizeof(S));
  }

 private:
  CuBlasHandle blas_;
  Array<S> diagonal_;
  int length_;
};

}  // namespace

template <class S>
std::unique_ptr<CuSparseProduct<S>> diagonal_scaling(const std::vector<S>& diagonal, int parts,
                                                     const Device& device) {
  using Complex = typename NumberOf<S, 2>::type;
  if (parts == 2) return std::make_unique<DiagonalScaling<S, Complex>>(diagonal, device);
  return std::make_unique<DiagonalScaling<S, S>>(diagonal, device);
}

namespace {

template <class L, class S>
auto prepared(const TextbookSystem<S>& system, TextbookForm form, const Device& device) {
  auto loop = std::make_shared<L>(system, form, device);
  loop->prepare();
  return [loop](double tolerance, long long max_iterations) {
    return loop->solve(tolerance, max_iterations);
  };
}

}  // namespace

template <class S>
std::function<PeerSolve(double tolerance, long long max_iterations)> textbook_solve(
    const TextbookSystem<S>& system, const MethodInfo& method, int parts, TextbookForm form,
    const Device& device) {
  if (method.name == "cg") {
    return prepared<ConjugateGradientLoop<S>>(system, form, device);
  }
  if (parts == 2) {
    return prepared<BicgstabLoop<S, typename NumberOf<S, 2>::type>>(system, form, device);
  }
  return prepared<BicgstabLoop<S, S>>(system, form, device);
}

#define HEDDLE_INSTANTIATE(S)                                                                  \
  template std::unique_ptr<CuSparseProduct<S>> diagonal_scaling<S>(const std::vector<S>&, int, \
                                                                   const Device&);             \
  template std::function<PeerSolve(double, long long)> textbook_solve<S>(                      \
      const TextbookSystem<S>&, const MethodInfo&, int, TextbookForm, const Device&);
HEDDLE_INSTANTIATE(float)
HEDDLE_INSTANTIATE(double)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::bench
