// The parts of the suite `primitives`, and what they share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/methods/coefficient.hpp"
#include "heddle/tools/random_field.hpp"
#include "heddle/tools/team.hpp"
#include "peers/nvidia_libraries_cuda.hpp"
#include "suites/timed_ways.hpp"

namespace heddle::bench {

// For vectors of as many rows as the problem has.
void vector_primitives(Session& session, const Problem& problem);
void setup_primitives(Session& session, const Problem& problem);
void block_primitives(Session& session, const Problem& problem);
/// An inverse of a coarsest level, of 2000 rows for large problems and 500 for others.
void dense_primitives(Session& session, const Problem& problem);

namespace primitives {

/// cuBLAS's type for numbers of ring R over S.
template <Ring R, class S>
using BlasNumber =
    std::conditional_t<R == Ring::real, S,
                       std::conditional_t<std::is_same_v<S, float>, cuComplex, cuDoubleComplex>>;

template <Ring R, class S, class T>
auto as_blas(T* scalars) {
  using Number = BlasNumber<R, S>;
  return reinterpret_cast<std::conditional_t<std::is_const_v<T>, const Number, Number>*>(scalars);
}

/// Random numbers in [-1, 1) on the host and on the GPU.
template <class S>
struct Numbers {
  std::vector<S> host;
  Array<S> gpu;

  Numbers(std::size_t count, std::uint64_t seed, const Device& device) : host(count) {
    parallel_for(default_threads(), count,
                 [&](std::size_t i) { host[i] = static_cast<S>(random_component(seed, i)); });
    gpu = Array<S>(std::span<const S>(host), device);
  }
};

template <class T>
std::vector<double> on_host(const T* data, std::size_t count, const Device& device) {
  std::vector<T> values(count);
  heddle::detail::copy_bytes(values.data(), data, count * sizeof(T), device.stream());
  return {values.begin(), values.end()};
}

/// sums += conj(x_i) y_i over `count` numbers, in long double between rounds of a thousand.
template <Ring R, class S>
void add_products(const S* x, const S* y, std::size_t count, long double* sums) {
  constexpr int r = ring_size(R);
  constexpr std::size_t of_round = 1000;
  for (std::size_t first = 0; first < count; first += of_round) {
    double own[2] = {};
    for (std::size_t i = first; i < std::min(count, first + of_round); ++i) {
      const S *a = x + i * r, *b = y + i * r;
      own[0] += double(a[0]) * b[0];
      if constexpr (R == Ring::complex) {
        own[0] += double(a[1]) * b[1];
        own[1] += double(a[0]) * b[1] - double(a[1]) * b[0];
      }
    }
    for (int k = 0; k < r; ++k) sums[k] += own[k];
  }
}

template <Ring R, class S>
Record record_of(const Problem& problem, std::string quantity, long long numbers_read,
                 long long numbers_moved) {
  Record record = bench::record_of("primitives", problem, std::move(quantity));
  record.entry = R == Ring::real ? "real" : "complex";
  record.precision = sizeof(S) == sizeof(float) ? "single" : "double";
  record.entries = numbers_read;
  record.compulsory_bytes = numbers_moved * ring_size(R) * static_cast<long long>(sizeof(S));
  return record;
}

using Result = std::function<std::vector<double>()>;

/// A result as the host computes it.
struct Expected {
  std::vector<double> values;
  double weight = 1;  // of the error relative to `values`

  double error(const std::vector<double>& found) const {
    return weight * relative_difference(found, values);
  }
};

template <class S>
double norm_of(std::span<const S> x) {
  long double square = 0;
  add_products<Ring::real>(x.data(), x.data(), x.size(), &square);
  return static_cast<double>(std::sqrt(square));
}

/// Sums of products over the rows of x and y, whose rounding errors are relative to |x| |y|.
template <class S>
Expected expected_sums(std::vector<double> sums, std::span<const S> x, std::span<const S> y) {
  const double norm = norm_of(std::span<const double>(sums));
  return {std::move(sums), norm / (norm_of(x) * norm_of(y))};
}

/// Overwrites a result, so that no check sees that of an earlier way.
template <class T>
Queue spoiling(T* data, std::size_t count) {
  return [=](const Stream& stream) {
    heddle::detail::fill_bytes(data, 0xff, count * sizeof(T), stream);
  };
}

/// A way whose result, on the host, is compared with `expected`. `prepare` is queued before each
/// checked run.
inline TimedWay way(Role role, std::string library, std::string method, Queue queue, Result result,
                    const Expected& expected, Queue prepare) {
  TimedWay made{role, std::move(library), std::move(method), std::move(queue)};
  made.error = [result, &expected] { return expected.error(result()); };
  made.prepare = std::move(prepare);
  made.result = std::move(result);
  return made;
}

inline TimedWay own(std::string method, Queue queue, const Result& result, const Expected& expected,
                    const Queue& prepare) {
  return way(Role::chosen, "Heddle", std::move(method), std::move(queue), result, expected,
             prepare);
}

inline TimedWay by_cub(std::string method, Queue queue, const Result& result,
                       const Expected& expected, const Queue& prepare) {
  return way(Role::peer, "CUB", std::move(method), std::move(queue), result, expected, prepare);
}

/// `make_queue()` is called while a missing library is a failure of this way alone.
template <class MakeQueue>
TimedWay by_cublas(const char* method, const MakeQueue& make_queue, const Result& result,
                   const Expected& expected, const Queue& prepare) {
  return way_of(Role::peer, "cuBLAS", method, [&](TimedWay& made) {
    made = way(Role::peer, "cuBLAS", method, make_queue(), result, expected, prepare);
  });
}

/// cuBLAS with scalars on the GPU, so that a graph can hold calls that return numbers.
template <class T>
class Blas {
 public:
  explicit Blas(const Device& device)
      : one(scalar(1), device), zero(scalar(0), device), handle_(device) {
    handle_.set_pointer_mode(CUBLAS_POINTER_MODE_DEVICE);
  }
  cublasHandle_t on(const Stream& stream) { return handle_.on(stream); }
  const CuBlasOperations<T>& calls() const { return cublas().operations<T>(); }

  const Array<T> one, zero;

 private:
  static std::vector<T> scalar(int value) {
    T number{};
    reinterpret_cast<real_of_t<T>&>(number) = static_cast<real_of_t<T>>(value);
    return {number};
  }

  CuBlasHandle handle_;
};

}  // namespace primitives

}  // namespace heddle::bench
