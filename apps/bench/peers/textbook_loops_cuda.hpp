// Conjugate gradient, BiCGStab and GMRES as users assemble them from cuSPARSE and cuBLAS.
#pragma once

#include <memory>
#include <vector>

#include "cusparse_methods_cuda.hpp"
#include "peer.hpp"

namespace heddle::bench {

/// Location of a loop's scalars, and its driver.
enum class TextbookForm {
  host_scalars,    // the host waits for each sum
  device_scalars,  // the host looks at the residual every `textbook_iterations_between_looks`
  graph            // those iterations as one CUDA graph, launched again and again
};
inline constexpr int textbook_iterations_between_looks = 20;

/// A x = b, all in the form of the products' vectors. `inverse_diagonal` may be null.
template <class S>
struct TextbookSystem {
  std::shared_ptr<CuSparseProduct<S>> A;
  std::shared_ptr<CuSparseProduct<S>> inverse_diagonal;
  BlockForm form;
  std::vector<double> b;  // in the user's numbers
};

/// z = D r by cuBLAS for a diagonal of real or complex numbers.
template <class S>
std::unique_ptr<CuSparseProduct<S>> diagonal_scaling(const std::vector<S>& diagonal, int parts,
                                                     const Device& device);

inline bool has_textbook_loop(const MethodInfo& method) {
  return method.name == "cg" || method.name == "bicgstab" || method.name == "gmres";
}
/// A cycle of GMRES never waits, so none of its sums is computed on the host.
inline bool has_textbook_form(const MethodInfo& method, TextbookForm form) {
  return has_textbook_loop(method) && !(method.restarts && form == TextbookForm::host_scalars);
}

/// `parts` = 2: scalars are complex, except for those of conjugate gradient, which are real.
template <class S>
std::function<PeerSolve(double tolerance, long long max_iterations)> textbook_solve(
    const TextbookSystem<S>& system, const MethodInfo& method, int parts, TextbookForm form,
    const Device& device);

}  // namespace heddle::bench
