// The scalars of LSMR (Fong and Saunders 2011, sections 2 and 3): two rotations an iteration, and
// the norms that follow from them. Damping is a part of the operator here, [A; d], not of the
// rotations.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::detail {

template <class T>
class LsmrRecurrence {
 public:
  /// u beta = r, v alpha = A* u.
  void begin(T alpha, T beta) {
    *this = LsmrRecurrence();
    gradient_ = alpha * beta;
    alpha_bar_ = alpha;
    beta_dd_ = beta;
    alpha_ = matrix_norm = alpha;
  }

  /// Takes the next beta and alpha; false if no x follows.
  bool step(T beta, T alpha) {
    const T rho_old = rho_, rho_bar_old = rho_bar_, zeta_old = zeta_;
    const Rotation first(alpha_bar_, beta);
    rho_ = first.length;
    const T theta = first.s * alpha, theta_bar = s_bar_ * rho_, rho_temporary = c_bar_ * rho_;
    alpha_bar_ = first.c * alpha;
    const Rotation second(rho_temporary, theta);
    c_bar_ = second.c;
    s_bar_ = second.s;
    rho_bar_ = second.length;
    zeta_ = c_bar_ * gradient_;
    gradient_ = -s_bar_ * gradient_;
    of_h_bar = -(theta_bar * rho_) / (rho_old * rho_bar_old);
    of_x = zeta_ / (rho_ * rho_bar_);
    of_h = -theta / rho_;
    if (!std::isfinite(of_h_bar) || !std::isfinite(of_x) || !std::isfinite(of_h)) return false;
    estimate_residual(first, theta_bar, zeta_old);

    matrix_norm = std::max({matrix_norm, std::hypot(alpha_, beta), std::hypot(alpha, beta)});
    alpha_ = alpha;
    if (steps_ > 0) largest_ = std::max(largest_, rho_bar_old);
    if (steps_ > 1) min_ = std::min(min_, rho_bar_old);
    ++steps_;
    condition = std::max(largest_, rho_temporary) / std::min(min_, rho_temporary);
    return true;
  }

  /// hbar = h + hbar of_h_bar, x += hbar of_x, h = v + h of_h.
  T of_h_bar = 0, of_x = 0, of_h = 0;
  T residual = 0;  // |r|
  /// A lower bound of |A| from the images of v and u, whatever rounding does to their
  /// orthogonality.
  T matrix_norm = 0;
  T condition = 0;
  /// |A* r|
  T gradient() const { return std::abs(gradient_); }

 private:
  struct Rotation {
    Rotation(T a, T b) : length(std::hypot(a, b)) {
      c = length > 0 ? a / length : T(1);
      s = length > 0 ? b / length : T(0);
    }
    T c, s, length;
  };

  /// Section 3.2.
  void estimate_residual(const Rotation& first, T theta_bar, T zeta_old) {
    const T beta_hat = first.c * beta_dd_;
    beta_dd_ = -first.s * beta_dd_;
    const T theta_tilde_old = theta_tilde_;
    const Rotation third(rho_d_, theta_bar);
    theta_tilde_ = third.s * rho_bar_;
    rho_d_ = third.c * rho_bar_;
    beta_d_ = -third.s * beta_d_ + third.c * beta_hat;
    tau_tilde_ = (zeta_old - theta_tilde_old * tau_tilde_) / third.length;
    const T tau = (zeta_ - theta_tilde_ * tau_tilde_) / rho_d_;
    residual = std::hypot(beta_d_ - tau, beta_dd_);
  }

  T gradient_ = 0;  // the paper's zeta bar
  T alpha_bar_ = 0, rho_ = 1, rho_bar_ = 1, c_bar_ = 1, s_bar_ = 0, zeta_ = 0;
  T beta_dd_ = 0, beta_d_ = 0, rho_d_ = 1, tau_tilde_ = 0, theta_tilde_ = 0;
  T alpha_ = 0;
  T largest_ = 0, min_ = std::numeric_limits<T>::max();
  int steps_ = 0;
};

}  // namespace heddle::detail
