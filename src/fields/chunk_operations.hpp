// What a thread of a GPU does with one chunk of the fields of an operation: the formulas of
// vector_operations.hpp. `sums` are the thread's own, in double. Everything is loaded before
// anything is stored, so that operands may be one field.
#pragma once

#include "chunks.hpp"
#include "operand.hpp"
#include "random_factor.hpp"

namespace heddle::cuda {

template <Ring R, class S>
struct Axpby {
  static constexpr int sums = 0;
  Operand<Coefficient<R, S>> alpha;
  const S* x;
  Operand<Coefficient<R, S>> beta;
  S* y;

  template <class Chunk>
  HEDDLE_HD void operator()(const Chunk& chunk, double*) const {
    const auto of_x = chunk.load(x);
    const auto a = alpha.get(), b = beta.get();
    // Not by the norm: the square of a small coefficient underflows.
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

  template <class Chunk>
  HEDDLE_HD void operator()(const Chunk& chunk, double*) const {
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

  template <class Chunk>
  HEDDLE_HD void operator()(const Chunk& chunk, double* sum) const {
    const auto of_x = chunk.load(x), of_y = chunk.load(y);
    for (int e = 0; e < Chunk::elements; ++e) {
      if (e < chunk.count) add_conjugate_product(of_x.at[e], of_y.at[e], sum);
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

  template <class Chunk>
  HEDDLE_HD void operator()(const Chunk& chunk, double*) const {
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

  template <class Chunk>
  HEDDLE_HD void operator()(const Chunk& chunk, double*) const {
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

  template <class Chunk>
  HEDDLE_HD void operator()(const Chunk& chunk, double*) const {
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

  template <class Chunk>
  HEDDLE_HD void operator()(const Chunk& chunk, double*) const {
    chunk.store(y, chunk.load(x));
  }
};

template <class S>
struct UpdateResidual {
  static constexpr int sums = 1;
  Operand<S> alpha;
  const S* q;
  S* r;

  template <class Chunk>
  HEDDLE_HD void operator()(const Chunk& chunk, double* sum) const {
    const auto of_q = chunk.load(q);
    auto of_r = chunk.load(r);
    const S a = alpha.get();
    for (int e = 0; e < Chunk::elements; ++e) {
      of_r.at[e].component[0] -= a * of_q.at[e].component[0];
    }
    chunk.store(r, of_r);
    for (int e = 0; e < Chunk::elements; ++e) {
      if (e < chunk.count) add_squared_norm(of_r.at[e], sum[0]);
    }
  }
};

template <class S>
struct UpdateSolutionAndDirection {
  static constexpr int sums = 0;
  Operand<S> alpha;
  S* x;
  Operand<S> beta;
  const S* z;
  S* p;

  template <class Chunk>
  HEDDLE_HD void operator()(const Chunk& chunk, double*) const {
    auto of_p = chunk.load(p), of_x = chunk.load(x);
    const auto of_z = chunk.load(z);
    const S a = alpha.get(), b = beta.get();
    for (int e = 0; e < Chunk::elements; ++e) {
      const S direction = of_p.at[e].component[0];
      of_x.at[e].component[0] += a * direction;
      of_p.at[e].component[0] = of_z.at[e].component[0] + b * direction;
    }
    chunk.store(x, of_x);
    chunk.store(p, of_p);
  }
};

/// p = z + beta p, s = w + beta s, x += alpha p, r -= alpha s; |r|^2. z may be r.
template <class S>
struct StepWithOneReduction {
  static constexpr int sums = 1;
  Operand<S> alpha;
  Operand<S> beta;
  const S* z;
  const S* w;
  S* p;
  S* s;
  S* x;
  S* r;

  template <class Chunk>
  HEDDLE_HD void operator()(const Chunk& chunk, double* sum) const {
    auto of_p = chunk.load(p), of_s = chunk.load(s), of_x = chunk.load(x), of_r = chunk.load(r);
    const auto of_z = chunk.load(z), of_w = chunk.load(w);
    const S a = alpha.get(), b = beta.get();
    for (int e = 0; e < Chunk::elements; ++e) {
      S& direction = of_p.at[e].component[0];
      S& image = of_s.at[e].component[0];
      direction = of_z.at[e].component[0] + b * direction;
      image = of_w.at[e].component[0] + b * image;
      of_x.at[e].component[0] += a * direction;
      of_r.at[e].component[0] -= a * image;
    }
    chunk.store(p, of_p);
    chunk.store(s, of_s);
    chunk.store(x, of_x);
    chunk.store(r, of_r);
    for (int e = 0; e < Chunk::elements; ++e) {
      if (e < chunk.count) add_squared_norm(of_r.at[e], sum[0]);
    }
  }
};

template <Ring R, class S>
struct UpdateDirection {
  static constexpr int sums = 0;
  const S* r;
  const S* v;
  Operand<Coefficient<R, S>> omega;
  Operand<Coefficient<R, S>> beta;
  S* p;

  template <class Chunk>
  HEDDLE_HD void operator()(const Chunk& chunk, double*) const {
    auto sum = chunk.load(r);
    const auto old = chunk.load(p), image = chunk.load(v);
    const auto b = beta.get(), minus_omega_beta = -(omega.get() * b);
    for (int e = 0; e < Chunk::elements; ++e) {
      multiply_add_at<R>(sum.at[e].component, old.at[e].component, b.component);
      multiply_add_at<R>(sum.at[e].component, image.at[e].component, minus_omega_beta.component);
    }
    chunk.store(p, sum);
  }
};

template <Ring R, class S>
struct HalfStep {
  static constexpr int sums = 1;
  const S* v;
  Operand<Coefficient<R, S>> alpha;
  S* r;

  template <class Chunk>
  HEDDLE_HD void operator()(const Chunk& chunk, double* sum) const {
    auto s = chunk.load(r);
    const auto image = chunk.load(v);
    const auto minus_alpha = -alpha.get();
    for (int e = 0; e < Chunk::elements; ++e) {
      multiply_add_at<R>(s.at[e].component, image.at[e].component, minus_alpha.component);
    }
    chunk.store(r, s);
    for (int e = 0; e < Chunk::elements; ++e) {
      if (e < chunk.count) add_squared_norm(s.at[e], sum[0]);
    }
  }
};

template <Ring R, class S>
struct DotAndNorm {
  static constexpr int sums = ring_size(R) + 1;
  const S* t;
  const S* s;

  template <class Chunk>
  HEDDLE_HD void operator()(const Chunk& chunk, double* sum) const {
    const auto of_t = chunk.load(t), of_s = chunk.load(s);
    for (int e = 0; e < Chunk::elements; ++e) {
      if (e >= chunk.count) continue;
      add_conjugate_product(of_t.at[e], of_s.at[e], sum);
      add_squared_norm(of_t.at[e], sum[ring_size(R)]);
    }
  }
};

template <Ring R, class S>
struct FullStep {
  static constexpr int sums = ring_size(R) + 1;
  const S* p;
  Operand<Coefficient<R, S>> alpha;
  const S* s;
  Operand<Coefficient<R, S>> omega;
  const S* t;
  const S* shadow;
  S* x;
  S* r;

  template <class Chunk>
  HEDDLE_HD void operator()(const Chunk& chunk, double* sum) const {
    auto solution = chunk.load(x), residual = chunk.load(r);
    const auto along_p = chunk.load(p), along_s = chunk.load(s);
    const auto image = chunk.load(t), of_shadow = chunk.load(shadow);
    const auto a = alpha.get(), w = omega.get(), minus_w = -w;
    for (int e = 0; e < Chunk::elements; ++e) {
      multiply_add_at<R>(solution.at[e].component, along_p.at[e].component, a.component);
      multiply_add_at<R>(solution.at[e].component, along_s.at[e].component, w.component);
      multiply_add_at<R>(residual.at[e].component, image.at[e].component, minus_w.component);
    }
    chunk.store(x, solution);
    chunk.store(r, residual);
    for (int e = 0; e < Chunk::elements; ++e) {
      if (e >= chunk.count) continue;
      add_squared_norm(residual.at[e], sum[0]);
      add_conjugate_product(of_shadow.at[e], residual.at[e], sum + 1);
    }
  }
};

}  // namespace heddle::cuda
