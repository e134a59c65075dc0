// Every way in which cuSPARSE multiplies by a matrix of compound entries.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heddle/csr.hpp"
#include "heddle/device.hpp"
#include "vendor_formats.hpp"

namespace heddle::bench {

/// A matrix in one of cuSPARSE's formats on a GPU, analysed.
template <class S>
class CuSparseProduct {
 public:
  virtual ~CuSparseProduct() = default;
  /// Queues y = A x for vectors in GPU memory, in the form of the format. Allocates nothing.
  virtual void queue(const S* x, S* y, const Stream& stream) = 0;
  virtual long long memory_bytes() const = 0;
};

template <class S>
struct CuSparseMethod {
  std::string name;  // format and algorithm
  BlockForm form;    // form of its vectors
  /// Converts the matrix and has it analysed; throws `Error` where the library refuses.
  std::function<std::unique_ptr<CuSparseProduct<S>>()> make;
};

/// All methods that fit. The matrix must live until the last `make` has returned; converted arrays
/// that several methods share are kept while any of the list is. Real expansions as CSR are left
/// out where they have more than 2^31 - 1 numbers or would take a third of the GPU's free memory.
template <class E>
std::vector<CuSparseMethod<stored_scalar_t<E>>> cusparse_methods(const CsrMatrix<E>& matrix,
                                                                 const Device& device);

}  // namespace heddle::bench
