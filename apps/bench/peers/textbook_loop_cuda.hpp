// The loop of cuBLAS calls in which every textbook method runs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "base/cuda_call.hpp"
#include "heddle/array.hpp"
#include "heddle/error.hpp"
#include "heddle/report.hpp"
#include "nvidia_libraries_cuda.hpp"
#include "solvers/gpu_loops/captured_graph_cuda.hpp"
#include "textbook_kernels_cuda.hpp"
#include "textbook_loops_cuda.hpp"

namespace heddle::bench {

inline int blas_length(std::size_t numbers) {
  if (numbers <= static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return static_cast<int>(numbers);
  }
  throw Error(ErrorKind::unsupported,
              "vectors of " + std::to_string(numbers) + " numbers are too long for cuBLAS's int");
}

/// Vectors, scalars and the calls on them; each method defines its iteration.
template <class S, class T>
class TextbookLoop {
 public:
  TextbookLoop(const TextbookSystem<S>& system, TextbookForm form, const Device& device)
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
  virtual ~TextbookLoop() = default;
  TextbookLoop(const TextbookLoop&) = delete;
  TextbookLoop& operator=(const TextbookLoop&) = delete;

  /// Called once, after construction: libraries allocate at first use, which no graph can hold.
  void prepare() {
    const cuda::OnGpu here(stream());
    begin();
    iterate(0);
    square_of(r_);
    device_.synchronize();
  }

  PeerSolve solve(double tolerance, long long max_iterations) {
    const cuda::OnGpu here(stream());
    if (form_ == TextbookForm::graph) {
      capture(iterations_between_looks());
      capture(static_cast<int>(max_iterations % iterations_between_looks()));
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
  /// Starts at the guess x = 0: residual, directions, scalars.
  virtual void begin() = 0;
  /// Iteration number i since the last look.
  virtual void iterate(int i) = 0;
  /// Work of a method after `iterations` iterations, before a look.
  virtual void finish(int iterations) { (void)iterations; }
  virtual int iterations_between_looks() const { return textbook_iterations_between_looks; }
  /// |r|^2 where the iteration has left it in the host's scalars.
  virtual std::optional<double> known_residual_square() const { return {}; }

  /// The device's stream, or one that is being captured.
  const Stream& stream() const { return stream_; }
  bool on_host() const { return form_ == TextbookForm::host_scalars; }
  bool preconditioned() const { return system_.inverse_diagonal != nullptr; }
  std::size_t size() const { return b_.size(); }
  const Device& device() const { return device_; }

  /// The location from which the library reads scalars and to which it writes them.
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

  void multiply(const S* from, S* to) { system_.A->queue(from, to, stream()); }
  void precondition(const S* from, S* to) { system_.inverse_diagonal->queue(from, to, stream()); }
  void multiply(const Array<S>& from, Array<S>& to) { multiply(from.data(), to.data()); }
  void precondition(const Array<S>& from, Array<S>& to) { precondition(from.data(), to.data()); }

  const CuBlasOperations<T>& blas() const { return operations_; }
  cublasHandle_t handle() { return blas_.on(stream()); }
  int length() const { return length_; }
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

  /// Runs the iterations up to the next look, and returns their number.
  long long run(long long left) {
    if (form_ == TextbookForm::host_scalars) {
      iterate(0);
      return 1;
    }
    const int count = static_cast<int>(std::min<long long>(left, iterations_between_looks()));
    if (form_ == TextbookForm::graph) {
      graphs_.at(count).launch(stream());
    } else {
      for (int i = 0; i < count; ++i) iterate(i);
    }
    finish(count);
    return count;
  }

  /// Captures that number of iterations as a graph, unless it already exists.
  void capture(int iterations) {
    if (iterations == 0 || graphs_.contains(iterations)) return;
    graphs_.try_emplace(iterations, device_, [this, iterations](const Stream& capturing) {
      stream_ = capturing;
      for (int i = 0; i < iterations; ++i) iterate(i);
    });
    stream_ = device_.stream();
  }

  double residual_square() {
    if (const auto known = known_residual_square()) return *known;
    return square_of(r_);
  }

  /// |vector|^2; waits for the result.
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
  std::map<int, cuda::CapturedGraph> graphs_;  // by number of iterations
};

}  // namespace heddle::bench
