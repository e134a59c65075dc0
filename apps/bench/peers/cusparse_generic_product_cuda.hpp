// A product by cuSPARSE's generic functions, over any format that they describe.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include "cusparse_methods_cuda.hpp"
#include "heddle/array.hpp"
#include "heddle/cuda_call.hpp"
#include "nvidia_libraries_cuda.hpp"

namespace heddle::bench {

inline constexpr auto not_transposed = CUSPARSE_OPERATION_NON_TRANSPOSE;

/// The number one, real (the first element) or complex (both).
template <class S>
inline constexpr S one[2] = {1, 0};
template <class S>
inline constexpr S zero[2] = {0, 0};

template <class S>
cudaDataType number_type(int parts) {
  if (std::is_same_v<S, float>) return parts == 2 ? CUDA_C_32F : CUDA_R_32F;
  return parts == 2 ? CUDA_C_64F : CUDA_R_64F;
}

template <class T>
long long bytes_of(const Array<T>& array) {
  return static_cast<long long>(array.size() * sizeof(T));
}

/// A sparse matrix as cuSPARSE's generic functions see it; it does not own the arrays it describes.
class Description {
 public:
  Description() = default;
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  ~Description() {
    if (matrix != nullptr) cusparse().destroy_sp_mat(matrix);
  }
  cusparseSpMatDescr_t matrix = nullptr;
};

class VectorDescription {
 public:
  VectorDescription(long long numbers, void* values, cudaDataType type) {
    check(cusparse().create_dn_vec(&vector_, numbers, values, type), "cusparseCreateDnVec");
  }
  VectorDescription(const VectorDescription&) = delete;
  VectorDescription& operator=(const VectorDescription&) = delete;
  ~VectorDescription() { cusparse().destroy_dn_vec(vector_); }

  cusparseDnVecDescr_t get() const { return vector_; }
  cusparseDnVecDescr_t at(void* values) const {
    check(cusparse().dn_vec_set_values(vector_, values), "cusparseDnVecSetValues");
    return vector_;
  }

 private:
  cusparseDnVecDescr_t vector_ = nullptr;
};

/// A product by `cusparseSpMV`.
template <class S>
class GenericProduct final : public CuSparseProduct<S> {
 public:
  /// `describe(Description&)` makes the matrix of `arrays`, which are kept. `rows` and `columns`
  /// are those of the product, with the operation applied.
  template <class Describe>
  GenericProduct(std::shared_ptr<const CuSparseHandle> handle, std::shared_ptr<const void> arrays,
                 long long array_bytes, long long rows, long long columns, int parts,
                 cusparseSpMVAlg_t algorithm, bool preprocess, const Device& device,
                 const Describe& describe, cusparseOperation_t operation = not_transposed)
      : handle_(std::move(handle)),
        arrays_(std::move(arrays)),
        array_bytes_(array_bytes),
        type_(number_type<S>(parts)),
        algorithm_(algorithm),
        operation_(operation) {
    const cuda::OnGpu here(device.stream());
    describe(description_);
    // The analysis needs some vectors; each product names its own.
    Array<S> any_x(static_cast<std::size_t>(columns * parts), device);
    Array<S> any_y(static_cast<std::size_t>(rows * parts), device);
    x_ = std::make_unique<VectorDescription>(columns, any_x.data(), type_);
    y_ = std::make_unique<VectorDescription>(rows, any_y.data(), type_);
    const cusparseHandle_t cusparse_handle = handle_->on(device.stream());
    std::size_t bytes = 0;
    check(cusparse().spmv_buffer_size(cusparse_handle, operation_, one<S>, description_.matrix,
                                      x_->get(), zero<S>, y_->get(), type_, algorithm_, &bytes),
          "cusparseSpMV_bufferSize");
    buffer_ = Array<std::byte>(std::max<std::size_t>(bytes, 1), device);
    if (preprocess) {
      check(cusparse().spmv_preprocess(cusparse_handle, operation_, one<S>, description_.matrix,
                                       x_->get(), zero<S>, y_->get(), type_, algorithm_,
                                       buffer_.data()),
            "cusparseSpMV_preprocess");
    }
    device.synchronize();
  }

  void queue(const S* x, S* y, const Stream& stream) override {
    queue_scaled(one<S>, x, zero<S>, y, stream);
  }
  /// y = alpha A x + beta y, for numbers that outlive the call.
  void queue_scaled(const S* alpha, const S* x, const S* beta, S* y, const Stream& stream) {
    const cuda::OnGpu here(stream);
    check(cusparse().spmv(handle_->on(stream), operation_, alpha, description_.matrix,
                          x_->at(const_cast<S*>(x)), beta, y_->at(y), type_, algorithm_,
                          buffer_.data()),
          "cusparseSpMV");
  }
  long long memory_bytes() const override { return array_bytes_ + bytes_of(buffer_); }

 private:
  std::shared_ptr<const CuSparseHandle> handle_;
  std::shared_ptr<const void> arrays_;
  long long array_bytes_;
  cudaDataType type_;
  cusparseSpMVAlg_t algorithm_;
  cusparseOperation_t operation_;
  Description description_;
  Array<std::byte> buffer_;
  std::unique_ptr<VectorDescription> x_, y_;
};

}  // namespace heddle::bench
