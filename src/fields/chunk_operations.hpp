// The formulas of vector_operations.hpp, for one chunk of the fields of an operation: CPU and GPU
// share them. `sums` are the thread's own. Everything is loaded before anything is stored, so that
// operands may be one field.
#pragma once

#include "chunks.hpp"
#include "random_factor.hpp"

namespace heddle::cuda {

/// A number known at the launch, or read from the device's memory when the kernel runs, because a
/// loop that lives on the device computes its coefficients there.
template <class T>
struct Operand {
  T value{};
  const T* pointer = nullptr;

  HEDDLE_HD Operand(const T& value) : value(value) {}
  HEDDLE_HD explicit Operand(const T* pointer) : pointer(pointer) {}

  HEDDLE_HD T get() const { return pointer != nullptr ? *pointer : value; }
};

template <Ring R, class S>
struct Axpby {
  static constexpr int sums = 0;
  Operand<Coefficient<R, S>> alpha;
  const S* x;
  Operand<Coefficient<R, S>> beta;
  S* y;

  template <class Chunk, class T>
  HEDDLE_INLINE void operator()(const Chunk& chunk, T*) const {
    const auto of_x = chunk.load(x);
    const auto a = alpha.get(), b = beta.get();
    // Not tested by the norm, because the square of a small coefficient underflows.
    bool reads_y = false;
    for (const S c : b.component) reads_y = reads_y || c != S(0);
    typename Chunk::Values sum;
    for (int e = 0; e < Chunk::elements; ++e) sum.at[e] = of_x.at[e] * a;
    if (reads_y) {
      const auto old = chunk.load(y);
      for (int e = 0; e < Chunk::elements; ++e) {
        multiply_add_at<R>(sum.at[e].component, old.at[e].component, b.component);
      }
    }
    chunk.store(y, sum);
  }
};

/// y -= x c, where c lies on the device as `dot` left it.
template <Ring R, class S>
struct SubtractMultiple {
  static constexpr int sums = 0;
  const S* x;
  const double* c;
  S* y;

  template <class Chunk, class T>
  HEDDLE_INLINE void operator()(const Chunk& chunk, T*) const {
    const auto of_x = chunk.load(x);
    auto result = chunk.load(y);
    Coefficient<R, S> minus;
    for (int k = 0; k < minus.size; ++k) minus.component[k] = static_cast<S>(-c[k]);
    for (int e = 0; e < Chunk::elements; ++e) {
      multiply_add_at<R>(result.at[e].component, of_x.at[e].component, minus.component);
    }
    chunk.store(y, result);
  }
};

template <Ring R, class S>
struct Dot {
  static constexpr int sums = ring_size(R);
  const S* x;
  const S* y;

  template <class Chunk, class T>
  HEDDLE_INLINE void operator()(const Chunk& chunk, T* sum) const {
    const auto of_x = chunk.load(x), of_y = chunk.load(y);
    for (int e = 0; e < Chunk::elements; ++e) {
      if (e < chunk.count) add_inner_product(of_x.at[e], of_y.at[e], sum);
    }
  }
};

/// sum += |c|^2.
template <Ring R, class S>
HEDDLE_INLINE void add_squared_norm(const Coefficient<R, S>& c, double& sum) {
  for (const S component : c.component) sum += double(component) * component;
}

template <class S>
struct Fill {
  static constexpr int sums = 0;
  Operand<S> value;
  S* y;

  template <class Chunk, class T>
  HEDDLE_INLINE void operator()(const Chunk& chunk, T*) const {
    const S v = value.get();
    typename Chunk::Values values;
    for (auto& element : values.at) element.component[0] = v;
    chunk.store(y, values);
  }
};

template <class S>
struct Randomize {
  static constexpr int sums = 0;
  unsigned long long seed;
  S* y;

  template <class Chunk, class T>
  HEDDLE_INLINE void operator()(const Chunk& chunk, T*) const {
    auto values = chunk.load(y);
    for (int e = 0; e < Chunk::elements; ++e) {
      const auto place = static_cast<unsigned long long>(chunk.first + e);
      values.at[e].component[0] *= static_cast<S>(detail::random_factor_at(place, seed));
    }
    chunk.store(y, values);
  }
};

template <class S>
struct Scale {
  static constexpr int sums = 0;
  Operand<S> alpha;
  S* y;

  template <class Chunk, class T>
  HEDDLE_INLINE void operator()(const Chunk& chunk, T*) const {
    auto values = chunk.load(y);
    const S a = alpha.get();
    for (auto& element : values.at) element.component[0] *= a;
    chunk.store(y, values);
  }
};

template <class S>
struct Copy {
  static constexpr int sums = 0;
  const S* x;
  S* y;

  template <class Chunk, class T>
  HEDDLE_INLINE void operator()(const Chunk& chunk, T*) const {
    chunk.store(y, chunk.load(x));
  }
};

/// y = x, and |x|^2.
template <class S>
struct CopyWithNorm {
  static constexpr int sums = 1;
  const S* x;
  S* y;

  template <class Chunk, class T>
  HEDDLE_INLINE void operator()(const Chunk& chunk, T* sum) const {
    const auto values = chunk.load(x);
    chunk.store(y, values);
    for (int e = 0; e < Chunk::elements; ++e) {
      if (e < chunk.count) add_inner_product(values.at[e], values.at[e], sum);
    }
  }
};

/// y = x and r = x - image, |x|^2 and |r|^2.
template <class S>
struct CopyAndSubtract {
  static constexpr int sums = 2;
  const S* x;
  S* y;
  const S* image;
  S* r;

  template <class Chunk, class T>
  HEDDLE_INLINE void operator()(const Chunk& chunk, T* sum) const {
    const auto values = chunk.load(x), of_image = chunk.load(image);
    auto rest = values;
    for (int e = 0; e < Chunk::elements; ++e) {
      for (int k = 0; k < Coefficient<Ring::real, S>::size; ++k) {
        rest.at[e].component[k] -= of_image.at[e].component[k];
      }
    }
    chunk.store(y, values);
    chunk.store(r, rest);
    for (int e = 0; e < Chunk::elements; ++e) {
      if (e >= chunk.count) continue;
      add_inner_product(values.at[e], values.at[e], sum);
      add_inner_product(rest.at[e], rest.at[e], sum + 1);
    }
  }
};

template <class S>
struct CopyIf {
  static constexpr int sums = 0;
  const int* flag;
  const S* x;
  S* y;

  template <class Chunk, class T>
  HEDDLE_INLINE void operator()(const Chunk& chunk, T*) const {
    if (*flag != 0) chunk.store(y, chunk.load(x));
  }
};

}  // namespace heddle::cuda
