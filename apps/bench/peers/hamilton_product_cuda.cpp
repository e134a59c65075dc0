#include "hamilton_product_cuda.hpp"

#include <array>
#include <span>
#include <string>

#include "cusparse_generic_product_cuda.hpp"
#include "hamilton_terms.hpp"
#include "vendor_formats.hpp"

namespace heddle::bench {

namespace {

/// The components of entries as matrices with one pattern, and of vectors as planes.
template <class S>
struct Planes {
  Array<int> offsets, column;
  std::array<Array<S>, 4> values, x;
};

template <class S>
std::array<Array<S>, 4> planes_of(std::span<const S> scalars, const Device& device) {
  std::array<Array<S>, 4> planes;
  for (int k = 0; k < 4; ++k) {
    const std::vector<S> plane = component_of_quaternions<S>(scalars, k);
    planes[static_cast<std::size_t>(k)] = Array<S>(std::span<const S>(plane), device);
  }
  return planes;
}

/// Four matrices analysed for one algorithm, and the y of their products.
template <class S>
struct HamiltonProduct {
  std::shared_ptr<const Planes<S>> planes;
  std::array<std::unique_ptr<GenericProduct<S>>, 4> product;
  std::array<Array<S>, 4> y;

  void queue(const Stream& stream) {
    static constexpr S numbers[] = {-1, 0, 1};
    for (const HamiltonTerm& term : hamilton_terms) {
      const auto to = static_cast<std::size_t>(term.result);
      const bool is_first = term.matrix == 0;
      product[static_cast<std::size_t>(term.matrix)]->queue_scaled(
          numbers + 1 + term.sign, planes->x[static_cast<std::size_t>(term.vector)].data(),
          numbers + (is_first ? 1 : 2), y[to].data(), stream);
    }
  }
};

template <class S>
PeerProduct hamilton_product(const std::shared_ptr<const Planes<S>>& planes, Index rows,
                             Index columns, cusparseSpMVAlg_t algorithm, const Device& device) {
  const bool preprocesses = cusparse().spmv_preprocess != nullptr;
  auto made = std::make_shared<HamiltonProduct<S>>();
  made->planes = planes;
  const auto handle = std::make_shared<const CuSparseHandle>(device);
  long long bytes = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    const Array<S>& values = planes->values[k];
    const long long pattern = k == 0 ? bytes_of(planes->offsets) + bytes_of(planes->column) : 0;
    made->product[k] = std::make_unique<GenericProduct<S>>(
        handle, planes, pattern + bytes_of(values), rows, columns, 1, algorithm, preprocesses,
        device, [&](Description& description) {
          check(
              cusparse().create_csr(
                  &description.matrix, rows, columns, static_cast<long long>(values.size()),
                  const_cast<int*>(planes->offsets.data()), const_cast<int*>(planes->column.data()),
                  const_cast<S*>(values.data()), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                  CUSPARSE_INDEX_BASE_ZERO, number_type<S>(1)),
              "cusparseCreateCsr");
        });
    made->y[k] = Array<S>(static_cast<std::size_t>(rows), device);
    bytes += made->product[k]->memory_bytes();
  }
  PeerProduct product;
  product.method = std::string("four real matrices, CSR ") +
                   (algorithm == CUSPARSE_SPMV_CSR_ALG1 ? "ALG1" : "ALG2") +
                   (preprocesses ? " preprocessed" : "");
  product.memory_bytes = bytes;
  product.queue = [made](const Stream& stream) { made->queue(stream); };
  product.result = [made] {
    std::array<std::vector<S>, 4> y;
    for (std::size_t k = 0; k < 4; ++k) y[k] = made->y[k].to_host();
    return quaternions_of(y);
  };
  return product;
}

}  // namespace

template <class S>
std::vector<PeerProduct> hamilton_products(const CsrMatrix<quaternion<S>>& matrix,
                                           const std::vector<double>& x, const Device& device) {
  const PatternView pattern = matrix.view().pattern();
  const std::vector<int> offsets = narrow_offsets(pattern);
  const std::vector<S> scalars(x.begin(), x.end());
  const auto entries = static_cast<std::size_t>(pattern.entries());
  const auto planes = std::make_shared<const Planes<S>>(
      Planes<S>{Array<int>(std::span<const int>(offsets), device),
                Array<int>(std::span<const int>(pattern.column, entries), device),
                planes_of(std::span<const S>(matrix.values().data(), 4 * entries), device),
                planes_of(std::span<const S>(scalars), device)});
  return {
      hamilton_product<S>(planes, matrix.rows(), matrix.columns(), CUSPARSE_SPMV_CSR_ALG1, device),
      hamilton_product<S>(planes, matrix.rows(), matrix.columns(), CUSPARSE_SPMV_CSR_ALG2, device)};
}

template std::vector<PeerProduct> hamilton_products<float>(const CsrMatrix<quaternion<float>>&,
                                                           const std::vector<double>&,
                                                           const Device&);
template std::vector<PeerProduct> hamilton_products<double>(const CsrMatrix<quaternion<double>>&,
                                                            const std::vector<double>&,
                                                            const Device&);

}  // namespace heddle::bench
