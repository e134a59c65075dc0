// cuSPARSE over compressed rows of real numbers as one storage of A and A*: products by the
// operation, sums by csrgeam2, and csr2csc for transposes.
#pragma once

#include <vector>

#include "peer.hpp"

namespace heddle::bench {

/// Like `Peer::products_of_either` and `Peer::sums`, for the real expansion.
std::vector<PeerProduct> cusparse_products_of_either(const Problem& problem, bool transposes,
                                                     const std::vector<double>& x,
                                                     const Device& device);
std::vector<PeerSum> cusparse_sums(const Problem& A, const Problem& B, bool transposes,
                                   const Device& device);

}  // namespace heddle::bench
