// Other libraries' products of the same matrix, each ready to run once more.
#pragma once

#include <functional>
#include <string>

#include "heddle/csr.hpp"
#include "heddle/entries.hpp"

namespace heddle::compare {

/// y = A x by somebody else's code; `difference` is |y - y_heddle| / |y_heddle| for the common x.
struct Peer {
  std::string name;
  std::function<void()> product;
  std::function<double(const double* y)> difference;
};

/// x of the common product.
double component_of_x(long long scalar);

/// Eigen::SparseMatrix, row-major, of the real expansion; its OpenMP product.
Peer eigen_peer(const CsrMatrix<real<double>>& expansion, int threads);

// PETSc over the ranks of mpirun, where it is compiled in. Rank 0 leads: its calls make every rank
// run; the others serve until `petsc_finish`, asleep between calls so that rank 0 has their cores.
bool petsc_start(char** name);  // false on ranks that have served and may leave
Peer petsc_peer(const CsrMatrix<real<double>>& expansion, int block);
void petsc_finish();

}  // namespace heddle::compare
