// cuSPARSE's product with quaternions as sixteen products with real matrices.
#pragma once

#include <vector>

#include "heddle/csr.hpp"
#include "heddle/entries/quaternion.hpp"
#include "peer.hpp"

namespace heddle::bench {

/// For vectors in four planes; by CSR ALG1 and by ALG2, preprocessed where cuSPARSE can. Throws
/// `Error` where the library refuses.
template <class S>
std::vector<PeerProduct> hamilton_products(const CsrMatrix<quaternion<S>>& matrix,
                                           const std::vector<double>& x, const Device& device);

}  // namespace heddle::bench
