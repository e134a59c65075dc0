#include <Eigen/Sparse>
#include <cmath>
#include <memory>

#include "heddle/random_field.hpp"
#include "peers.hpp"

namespace heddle::compare {

double component_of_x(long long scalar) {
  return random_component(1, static_cast<std::uint64_t>(scalar));
}

Peer eigen_peer(const CsrMatrix<real<double>>& expansion, int threads) {
  using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
  struct State {
    Matrix a;
    Eigen::VectorXd x, y;
  };
  auto state = std::make_shared<State>();
  Matrix& a = state->a;
  a.resize(expansion.rows(), expansion.columns());
  a.resizeNonZeros(static_cast<int>(expansion.entries()));
  for (Index row = 0; row <= expansion.rows(); ++row) {
    a.outerIndexPtr()[row] = static_cast<int>(expansion.offsets()[static_cast<std::size_t>(row)]);
  }
  std::copy_n(expansion.column().data(), expansion.entries(), a.innerIndexPtr());
  std::copy_n(expansion.values().data(), expansion.entries(), a.valuePtr());
  state->x.resize(expansion.columns());
  state->y.setZero(expansion.rows());
  for (Index i = 0; i < expansion.columns(); ++i) state->x[i] = component_of_x(i);
  Eigen::setNbThreads(threads);
  return {"Eigen, real expansion", [state] { state->y.noalias() = state->a * state->x; },
          [state](const double* y) {
            const Eigen::Map<const Eigen::VectorXd> ours(y, state->y.size());
            return (state->y - ours).norm() / ours.norm();
          }};
}

}  // namespace heddle::compare
