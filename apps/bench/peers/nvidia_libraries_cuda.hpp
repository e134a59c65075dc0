// cuSPARSE and cuBLAS, opened at first use: never linked, so that heddle starts without them.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <memory>
#include <string>
#include <type_traits>

#include "heddle/array.hpp"
#include "heddle/device.hpp"
#include "textbook_scalars.hpp"

namespace heddle::bench {

/// Legacy product of a matrix of dense blocks. Newer toolkits lack it, so its type is written out.
template <class T>
using Bsrmv = cusparseStatus_t(cusparseHandle_t, cusparseDirection_t, cusparseOperation_t,
                               int block_rows, int block_columns, int blocks, const T* alpha,
                               cusparseMatDescr_t, const T* values, const int* offsets,
                               const int* column, int block_size, const T* x, const T* beta, T* y);

/// Sums of matrices in compressed rows, with numbers T.
template <class T>
struct CuSparseSums {
  cusparseStatus_t (*buffer_size)(cusparseHandle_t, int rows, int columns, const T* alpha,
                                  cusparseMatDescr_t, int entries_of_a, const T*, const int*,
                                  const int*, const T* beta, cusparseMatDescr_t, int entries_of_b,
                                  const T*, const int*, const int*, cusparseMatDescr_t, const T*,
                                  const int*, const int*, std::size_t* bytes);
  cusparseStatus_t (*add)(cusparseHandle_t, int rows, int columns, const T* alpha,
                          cusparseMatDescr_t, int entries_of_a, const T*, const int*, const int*,
                          const T* beta, cusparseMatDescr_t, int entries_of_b, const T*, const int*,
                          const int*, cusparseMatDescr_t, T*, int*, int*, void* buffer);
};

struct CuSparse {
  std::string version;
  std::string path;

  decltype(&cusparseCreate) create;
  decltype(&cusparseDestroy) destroy;
  decltype(&cusparseSetStream) set_stream;
  decltype(&cusparseGetErrorName) error_name;
  decltype(&cusparseCreateMatDescr) create_mat_descr;
  decltype(&cusparseDestroyMatDescr) destroy_mat_descr;
  decltype(&cusparseCreateDnVec) create_dn_vec;
  decltype(&cusparseDestroyDnVec) destroy_dn_vec;
  decltype(&cusparseDnVecSetValues) dn_vec_set_values;
  decltype(&cusparseCreateCsr) create_csr;
  decltype(&cusparseDestroySpMat) destroy_sp_mat;
  decltype(&cusparseSpMV_bufferSize) spmv_buffer_size;
  decltype(&cusparseSpMV) spmv;

  // Null in versions that lack them.
  decltype(&cusparseSpMV_preprocess) spmv_preprocess;
  decltype(&cusparseCreateBsr) create_bsr;
  decltype(&cusparseCreateSlicedEll) create_sliced_ell;
  Bsrmv<float>* bsrmv_float;
  Bsrmv<double>* bsrmv_double;
  Bsrmv<cuComplex>* bsrmv_complex_float;
  Bsrmv<cuDoubleComplex>* bsrmv_complex_double;
  decltype(&cusparseXcsrgeam2Nnz) count_sum;
  CuSparseSums<float> sums_float;
  CuSparseSums<double> sums_double;
  decltype(&cusparseCsr2cscEx2_bufferSize) transpose_buffer_size;
  decltype(&cusparseCsr2cscEx2) transpose;

  template <class T>
  const CuSparseSums<T>& sums() const {
    if constexpr (std::is_same_v<T, float>) {
      return sums_float;
    } else {
      return sums_double;
    }
  }
};

/// Vector operations on numbers T: float, double, cuComplex, cuDoubleComplex. `dot` conjugates its
/// first operand.
template <class T>
struct CuBlasOperations {
  cublasStatus_t (*dot)(cublasHandle_t, int n, const T* x, int, const T* y, int, T* result);
  cublasStatus_t (*axpy)(cublasHandle_t, int n, const T* alpha, const T* x, int, T* y, int);
  cublasStatus_t (*scal)(cublasHandle_t, int n, const T* alpha, T* x, int);
  cublasStatus_t (*nrm2)(cublasHandle_t, int n, const T* x, int, real_of_t<T>* result);
  cublasStatus_t (*gemv)(cublasHandle_t, cublasOperation_t, int rows, int columns, const T* alpha,
                         const T* a, int, const T* x, int, const T* beta, T* y, int);
  /// Scales the rows of `a` by the numbers x.
  cublasStatus_t (*dgmm)(cublasHandle_t, cublasSideMode_t, int rows, int columns, const T* a, int,
                         const T* x, int, T* c, int);
  cublasStatus_t (*gemm)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                         const T* alpha, const T* a, int, const T* b, int, const T* beta, T* c,
                         int);
  cublasStatus_t (*gemm_strided_batched)(cublasHandle_t, cublasOperation_t, cublasOperation_t,
                                         int m, int n, int k, const T* alpha, const T* a, int,
                                         long long stride_of_a, const T* b, int,
                                         long long stride_of_b, const T* beta, T* c, int,
                                         long long stride_of_c, int count);
};

struct CuBlas {
  std::string version;

  decltype(&cublasCreate_v2) create;
  decltype(&cublasDestroy_v2) destroy;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasSetWorkspace_v2) set_workspace;
  decltype(&cublasSetPointerMode_v2) set_pointer_mode;
  decltype(&cublasGetStatusName) status_name;
  decltype(&cublasDgetrfBatched) factor;
  decltype(&cublasDgetriBatched) invert;

  CuBlasOperations<float> of_float;
  CuBlasOperations<double> of_double;
  CuBlasOperations<cuComplex> of_complex_float;
  CuBlasOperations<cuDoubleComplex> of_complex_double;

  template <class T>
  const CuBlasOperations<T>& operations() const {
    if constexpr (std::is_same_v<T, float>) {
      return of_float;
    } else if constexpr (std::is_same_v<T, double>) {
      return of_double;
    } else if constexpr (std::is_same_v<T, cuComplex>) {
      return of_complex_float;
    } else {
      return of_complex_double;
    }
  }
};

/// cuSPARSE, from the file that HEDDLE_CUSPARSE names, else libcusparse.so.13 or .12. Throws
/// `Error`, anew at each call, while there is none.
const CuSparse& cusparse();
/// cuBLAS, from HEDDLE_CUBLAS, libcublas.so.13 or .12.
const CuBlas& cublas();

/// Throws `Error` with the call and the status's name unless it succeeded.
void check(cusparseStatus_t status, const char* call);
void check(cublasStatus_t status, const char* call);

/// cuSPARSE's handle on a GPU, with scalars in the host's memory.
class CuSparseHandle {
 public:
  explicit CuSparseHandle(const Device& device);
  CuSparseHandle(const CuSparseHandle&) = delete;
  CuSparseHandle& operator=(const CuSparseHandle&) = delete;
  ~CuSparseHandle();

  /// The handle, set to a stream.
  cusparseHandle_t on(const Stream& stream) const;
  cusparseMatDescr_t general() const { return general_; }

 private:
  cusparseHandle_t handle_ = nullptr;
  cusparseMatDescr_t general_ = nullptr;
};

/// cuBLAS's handle, with a workspace of its own so that a graph can hold its calls.
class CuBlasHandle {
 public:
  explicit CuBlasHandle(const Device& device);
  CuBlasHandle(const CuBlasHandle&) = delete;
  CuBlasHandle& operator=(const CuBlasHandle&) = delete;
  ~CuBlasHandle();

  /// The handle, set to a stream of the device.
  cublasHandle_t on(const Stream& stream);
  void set_pointer_mode(cublasPointerMode_t mode) const;

 private:
  Array<std::byte> workspace_;
  cublasHandle_t handle_ = nullptr;
  cudaStream_t queue_ = nullptr;  // the queue it is set to; null before the first
};

}  // namespace heddle::bench
