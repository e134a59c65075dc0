#include "textbook_loops_cuda.hpp"

#include <utility>

#include "textbook_gmres_cuda.hpp"
#include "textbook_loop_cuda.hpp"

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

/// Saad, Iterative Methods for Sparse Linear Systems, algorithm 9.1.
template <class S>
class ConjugateGradientLoop final : public TextbookLoop<S, S> {
 public:
  ConjugateGradientLoop(const TextbookSystem<S>& system, TextbookForm form, const Device& device)
      : TextbookLoop<S, S>(system, form, device),
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
  void iterate(int) override {
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
class BicgstabLoop final : public TextbookLoop<S, T> {
 public:
  BicgstabLoop(const TextbookSystem<S>& system, TextbookForm form, const Device& device)
      : TextbookLoop<S, T>(system, form, device),
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
    reinterpret_cast<S&>(scalars.one) = 1;  // for a complex number, its real part
    scalars.rho = scalars.alpha = scalars.omega = scalars.one;
    scalars.minus_omega = textbook::negative(scalars.one);
    this->set_scalars(scalars);
  }
  void iterate(int) override {
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

using Solve = std::function<PeerSolve(double tolerance, long long max_iterations)>;

template <class L, class S>
Solve prepared(const TextbookSystem<S>& system, TextbookForm form, const Device& device) {
  auto loop = std::make_shared<L>(system, form, device);
  loop->prepare();
  return [loop](double tolerance, long long max_iterations) {
    return loop->solve(tolerance, max_iterations);
  };
}

}  // namespace

template <class S>
Solve textbook_solve(const TextbookSystem<S>& system, const MethodInfo& method, int parts,
                     TextbookForm form, const Device& device) {
  if (method.name == "cg") {
    return prepared<ConjugateGradientLoop<S>>(system, form, device);
  }
  using Complex = typename NumberOf<S, 2>::type;
  if (method.name == "gmres") {
    return parts == 2 ? prepared<GmresLoop<S, Complex>>(system, form, device)
                      : prepared<GmresLoop<S, S>>(system, form, device);
  }
  return parts == 2 ? prepared<BicgstabLoop<S, Complex>>(system, form, device)
                    : prepared<BicgstabLoop<S, S>>(system, form, device);
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
