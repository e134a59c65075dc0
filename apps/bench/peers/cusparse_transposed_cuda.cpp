#include "cusparse_transposed_cuda.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "cusparse_generic_product_cuda.hpp"
#include "heddle/cuda_call.hpp"
#include "heddle/error.hpp"
#include "nvidia_libraries_cuda.hpp"
#include "vendor_formats.hpp"

namespace heddle::bench {

namespace cusparse_transposed {
namespace {

/// Compressed rows of numbers on the GPU.
template <class S>
struct Rows {
  int rows = 0, columns = 0;
  Array<int> offsets, column;
  Array<S> values;

  int entries() const { return static_cast<int>(column.size()); }
  long long bytes() const { return bytes_of(offsets) + bytes_of(column) + bytes_of(values); }
};

template <class T>
Array<T> on_device(const std::vector<T>& values, const Device& device) {
  return Array<T>(std::span<const T>(values), device);
}

template <class E>
Rows<stored_scalar_t<E>> rows_of(const CsrMatrix<E>& matrix, const Device& device) {
  using S = stored_scalar_t<E>;
  const NumberRows<S> numbers =
      number_rows(EntriesView<S>{matrix.view().pattern(), matrix.values().data(), E::components},
                  real_form<E>());
  return {numbers.rows(), heddle::detail::scaled_size(matrix.columns(), tile_columns<E>),
          on_device(numbers.offsets, device), on_device(numbers.column, device),
          on_device(numbers.values, device)};
}

template <class S>
PeerProduct product_of(std::shared_ptr<const Rows<S>> A, bool transposes,
                       const std::vector<double>& x, cusparseSpMVAlg_t algorithm, const char* name,
                       const Device& device) {
  struct State {
    std::unique_ptr<GenericProduct<S>> product;
    Array<S> x, y;
  };
  const long long rows = transposes ? A->columns : A->rows,
                  columns = transposes ? A->rows : A->columns;
  const std::vector<S> scalars(x.begin(), x.end());
  auto state = std::make_shared<State>();
  state->x = on_device(scalars, device);
  state->y = Array<S>(static_cast<std::size_t>(rows), device);
  state->product = std::make_unique<GenericProduct<S>>(
      std::make_shared<const CuSparseHandle>(device), A, A->bytes(), rows, columns, 1, algorithm,
      false, device,
      [&](Description& description) {
        check(cusparse().create_csr(
                  &description.matrix, A->rows, A->columns, A->entries(),
                  const_cast<int*>(A->offsets.data()), const_cast<int*>(A->column.data()),
                  const_cast<S*>(A->values.data()), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                  CUSPARSE_INDEX_BASE_ZERO, number_type<S>(1)),
              "cusparseCreateCsr");
      },
      transposes ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE);
  PeerProduct product;
  product.method = std::string(name) + (transposes ? ", transposed" : "");
  product.memory_bytes = state->product->memory_bytes();
  product.queue = [state](const Stream& stream) {
    state->product->queue(state->x.data(), state->y.data(), stream);
  };
  product.result = [state] {
    const std::vector<S> y = state->y.to_host();
    return std::vector<double>(y.begin(), y.end());
  };
  return product;
}

/// Data and functions for the sums of one pair of matrices.
template <class S>
class Sums {
 public:
  Sums(Rows<S> A, Rows<S> B, const Device& device)
      : A_(std::move(A)), B_(std::move(B)), device_(device), handle_(device) {
    const CuSparse& c = cusparse();
    if (c.count_sum == nullptr || c.sums<S>().add == nullptr || c.transpose == nullptr) {
      throw Error(ErrorKind::unsupported, "this cuSPARSE has no csrgeam2 or no csr2csc");
    }
  }

  /// The transpose of B_.
  Rows<S> transposed() const {
    const cuda::OnGpu here(device_.stream());
    Rows<S> T{B_.columns, B_.rows, Array<int>(static_cast<std::size_t>(B_.columns) + 1, device_),
              Array<int>(B_.column.size(), device_), Array<S>(B_.values.size(), device_)};
    const auto arguments = [&](auto call, auto last, const char* name) {
      check(call(handle_.on(device_.stream()), B_.rows, B_.columns, B_.entries(), B_.values.data(),
                 B_.offsets.data(), B_.column.data(), T.values.data(), T.offsets.data(),
                 T.column.data(), number_type<S>(1), CUSPARSE_ACTION_NUMERIC,
                 CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1, last),
            name);
    };
    std::size_t bytes = 0;
    arguments(cusparse().transpose_buffer_size, &bytes, "cusparseCsr2cscEx2_bufferSize");
    Array<std::byte> buffer(std::max<std::size_t>(bytes, 1), device_);
    arguments(cusparse().transpose, static_cast<void*>(buffer.data()), "cusparseCsr2cscEx2");
    return T;
  }

  void add(const Rows<S>& B) {
    const cuda::OnGpu here(device_.stream());
    const CuSparse& c = cusparse();
    const cusparseHandle_t handle = handle_.on(device_.stream());
    const cusparseMatDescr_t general = handle_.general();
    C_ = {};
    C_.rows = A_.rows;
    C_.columns = A_.columns;
    C_.offsets = Array<int>(A_.offsets.size(), device_);
    std::size_t bytes = 0;
    check(c.sums<S>().buffer_size(handle, A_.rows, A_.columns, one<S>, general, A_.entries(),
                                  A_.values.data(), A_.offsets.data(), A_.column.data(), one<S>,
                                  general, B.entries(), B.values.data(), B.offsets.data(),
                                  B.column.data(), general, nullptr, C_.offsets.data(), nullptr,
                                  &bytes),
          "cusparse csrgeam2_bufferSizeExt");
    Array<std::byte> buffer(std::max<std::size_t>(bytes, 1), device_);
    int entries = 0;
    check(c.count_sum(handle, A_.rows, A_.columns, general, A_.entries(), A_.offsets.data(),
                      A_.column.data(), general, B.entries(), B.offsets.data(), B.column.data(),
                      general, C_.offsets.data(), &entries, buffer.data()),
          "cusparseXcsrgeam2Nnz");
    C_.column = Array<int>(static_cast<std::size_t>(entries), device_);
    C_.values = Array<S>(static_cast<std::size_t>(entries), device_);
    check(c.sums<S>().add(handle, A_.rows, A_.columns, one<S>, general, A_.entries(),
                          A_.values.data(), A_.offsets.data(), A_.column.data(), one<S>, general,
                          B.entries(), B.values.data(), B.offsets.data(), B.column.data(), general,
                          C_.values.data(), C_.offsets.data(), C_.column.data(), buffer.data()),
          "cusparse csrgeam2");
    device_.synchronize();
  }

  const Rows<S>& B() const { return B_; }

  CsrMatrix<real<double>> result() const {
    const std::vector<int> offsets = C_.offsets.to_host(), column = C_.column.to_host();
    const std::vector<S> values = C_.values.to_host();
    const std::vector<Offset> wide(offsets.begin(), offsets.end());
    const std::vector<double> doubles(values.begin(), values.end());
    return {C_.rows, C_.columns, Array<Offset>(std::span<const Offset>(wide)),
            Array<Index>(std::span<const Index>(column)),
            Array<double>(std::span<const double>(doubles))};
  }

 private:
  Rows<S> A_, B_, C_;
  Device device_;
  CuSparseHandle handle_;
};

}  // namespace
}  // namespace cusparse_transposed

std::vector<PeerProduct> cusparse_products_of_either(const Problem& problem, bool transposes,
                                                     const std::vector<double>& x,
                                                     const Device& device) {
  if (!device.on_gpu() || problem.matrix.is_defined()) return {};
  return problem.matrix.visit([&]<class E>(const CsrMatrix<E>& matrix) {
    using S = stored_scalar_t<E>;
    using namespace cusparse_transposed;
    const auto A = std::make_shared<const Rows<S>>(rows_of(matrix, device));
    return std::vector<PeerProduct>{
        product_of<S>(A, transposes, x, CUSPARSE_SPMV_CSR_ALG1, "CSR ALG1", device),
        product_of<S>(A, transposes, x, CUSPARSE_SPMV_CSR_ALG2, "CSR ALG2", device)};
  });
}

std::vector<PeerSum> cusparse_sums(const Problem& A, const Problem& B, bool transposes,
                                   const Device& device) {
  if (!device.on_gpu() || A.matrix.is_defined()) return {};
  return A.matrix.visit([&]<class E>(const CsrMatrix<E>& a) {
    return B.matrix.visit([&]<class F>(const CsrMatrix<F>& b) -> std::vector<PeerSum> {
      using S = stored_scalar_t<E>;
      using namespace cusparse_transposed;
      if constexpr (std::is_same_v<E, F>) {
        const auto sums = std::make_shared<Sums<S>>(rows_of(a, device), rows_of(b, device), device);
        const auto result = [sums] { return sums->result(); };
        if (!transposes) return {{"csrgeam2", [sums] { sums->add(sums->B()); }, result}};
        const auto transposed = std::make_shared<const Rows<S>>(sums->transposed());
        return {
            {"csr2csc and csrgeam2", [sums] { sums->add(sums->transposed()); }, result},
            {"csrgeam2 without csr2csc", [sums, transposed] { sums->add(*transposed); }, result}};
      } else {
        throw Error(ErrorKind::usage, "cannot add entries of two kinds");
      }
    });
  });
}

}  // namespace heddle::bench
