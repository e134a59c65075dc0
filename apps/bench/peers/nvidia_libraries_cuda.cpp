#include "nvidia_libraries_cuda.hpp"

#include "base/shared_library.hpp"
#include "heddle/cuda_call.hpp"
#include "heddle/error.hpp"

namespace heddle::bench {

namespace {

template <class GetProperty>
std::string version_of(GetProperty get_property) {
  int major = 0, minor = 0, patch = 0;
  get_property(MAJOR_VERSION, &major);
  get_property(MINOR_VERSION, &minor);
  get_property(PATCH_LEVEL, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

// Functions found by name have the types that the header declares.
static_assert(std::is_same_v<decltype(&cusparseScsrgeam2_bufferSizeExt),
                             decltype(CuSparseSums<float>::buffer_size)>);
static_assert(std::is_same_v<decltype(&cusparseDcsrgeam2), decltype(CuSparseSums<double>::add)>);

CuSparse open_cusparse() {
  const SharedLibrary library("HEDDLE_CUSPARSE", {"libcusparse.so.13", "libcusparse.so.12"});
  CuSparse c{};
  c.path = library.path();
  decltype(&cusparseGetProperty) get_property = nullptr;
  library.find(get_property, "cusparseGetProperty");
  c.version = version_of(get_property);
  library.find(c.create, "cusparseCreate");
  library.find(c.destroy, "cusparseDestroy");
  library.find(c.set_stream, "cusparseSetStream");
  library.find(c.error_name, "cusparseGetErrorName");
  library.find(c.create_mat_descr, "cusparseCreateMatDescr");
  library.find(c.destroy_mat_descr, "cusparseDestroyMatDescr");
  library.find(c.create_dn_vec, "cusparseCreateDnVec");
  library.find(c.destroy_dn_vec, "cusparseDestroyDnVec");
  library.find(c.dn_vec_set_values, "cusparseDnVecSetValues");
  library.find(c.create_csr, "cusparseCreateCsr");
  library.find(c.destroy_sp_mat, "cusparseDestroySpMat");
  library.find(c.spmv_buffer_size, "cusparseSpMV_bufferSize");
  library.find(c.spmv, "cusparseSpMV");
  library.find_if_there(c.spmv_preprocess, "cusparseSpMV_preprocess");
  library.find_if_there(c.create_bsr, "cusparseCreateBsr");
  library.find_if_there(c.create_sliced_ell, "cusparseCreateSlicedEll");
  library.find_if_there(c.bsrmv_float, "cusparseSbsrmv");
  library.find_if_there(c.bsrmv_double, "cusparseDbsrmv");
  library.find_if_there(c.bsrmv_complex_float, "cusparseCbsrmv");
  library.find_if_there(c.bsrmv_complex_double, "cusparseZbsrmv");
  library.find_if_there(c.count_sum, "cusparseXcsrgeam2Nnz");
  library.find_if_there(c.sums_float.buffer_size, "cusparseScsrgeam2_bufferSizeExt");
  library.find_if_there(c.sums_float.add, "cusparseScsrgeam2");
  library.find_if_there(c.sums_double.buffer_size, "cusparseDcsrgeam2_bufferSizeExt");
  library.find_if_there(c.sums_double.add, "cusparseDcsrgeam2");
  library.find_if_there(c.transpose_buffer_size, "cusparseCsr2cscEx2_bufferSize");
  library.find_if_there(c.transpose, "cusparseCsr2cscEx2");
  return c;
}

template <class T>
void find_operations(CuBlasOperations<T>& operations, const SharedLibrary& library, char letter,
                     const char* dot, const char* nrm2) {
  const std::string prefix = std::string("cublas") + letter;
  library.find(operations.dot, (prefix + dot + "_v2").c_str());
  library.find(operations.axpy, (prefix + "axpy_v2").c_str());
  library.find(operations.scal, (prefix + "scal_v2").c_str());
  library.find(operations.nrm2, ("cublas" + std::string(nrm2) + "_v2").c_str());
  library.find(operations.gemv, (prefix + "gemv_v2").c_str());
  library.find(operations.dgmm, (prefix + "dgmm").c_str());
  library.find(operations.gemm, (prefix + "gemm_v2").c_str());
  library.find(operations.gemm_strided_batched, (prefix + "gemmStridedBatched").c_str());
}

// Functions found by name have the types that the header declares.
static_assert(
    std::is_same_v<decltype(&cublasZdotc_v2), decltype(CuBlasOperations<cuDoubleComplex>::dot)>);
static_assert(std::is_same_v<decltype(&cublasDaxpy_v2), decltype(CuBlasOperations<double>::axpy)>);
static_assert(std::is_same_v<decltype(&cublasSscal_v2), decltype(CuBlasOperations<float>::scal)>);
static_assert(
    std::is_same_v<decltype(&cublasDznrm2_v2), decltype(CuBlasOperations<cuDoubleComplex>::nrm2)>);
static_assert(
    std::is_same_v<decltype(&cublasCgemv_v2), decltype(CuBlasOperations<cuComplex>::gemv)>);
static_assert(std::is_same_v<decltype(&cublasCdgmm), decltype(CuBlasOperations<cuComplex>::dgmm)>);
static_assert(std::is_same_v<decltype(&cublasDgemm_v2), decltype(CuBlasOperations<double>::gemm)>);
static_assert(std::is_same_v<decltype(&cublasZgemmStridedBatched),
                             decltype(CuBlasOperations<cuDoubleComplex>::gemm_strided_batched)>);

CuBlas open_cublas() {
  const SharedLibrary library("HEDDLE_CUBLAS", {"libcublas.so.13", "libcublas.so.12"});
  CuBlas c{};
  decltype(&cublasGetProperty) get_property = nullptr;
  library.find(get_property, "cublasGetProperty");
  c.version = version_of(get_property);
  library.find(c.create, "cublasCreate_v2");
  library.find(c.destroy, "cublasDestroy_v2");
  library.find(c.set_stream, "cublasSetStream_v2");
  library.find(c.set_workspace, "cublasSetWorkspace_v2");
  library.find(c.set_pointer_mode, "cublasSetPointerMode_v2");
  library.find(c.status_name, "cublasGetStatusName");
  library.find(c.factor, "cublasDgetrfBatched");
  library.find(c.invert, "cublasDgetriBatched");
  find_operations(c.of_float, library, 'S', "dot", "Snrm2");
  find_operations(c.of_double, library, 'D', "dot", "Dnrm2");
  find_operations(c.of_complex_float, library, 'C', "dotc", "Scnrm2");
  find_operations(c.of_complex_double, library, 'Z', "dotc", "Dznrm2");
  return c;
}

[[noreturn]] void fail(const char* library, const char* call, const char* status, bool no_memory,
                       bool unsupported) {
  cudaGetLastError();  // so that the next call does not report it again
  throw Error(no_memory     ? ErrorKind::memory
              : unsupported ? ErrorKind::unsupported
                            : ErrorKind::internal,
              std::string(library) + " failed in " + call + ": " + status);
}

}  // namespace

const CuSparse& cusparse() {
  static const CuSparse library = open_cusparse();
  return library;
}

const CuBlas& cublas() {
  static const CuBlas library = open_cublas();
  return library;
}

void check(cusparseStatus_t status, const char* call) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  fail("cuSPARSE", call, cusparse().error_name(status), status == CUSPARSE_STATUS_ALLOC_FAILED,
       status == CUSPARSE_STATUS_NOT_SUPPORTED);
}

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail("cuBLAS", call, cublas().status_name(status), status == CUBLAS_STATUS_ALLOC_FAILED,
       status == CUBLAS_STATUS_NOT_SUPPORTED);
}

CuSparseHandle::CuSparseHandle(const Device& device) {
  const cuda::OnGpu here(device.stream());
  check(cusparse().create(&handle_), "cusparseCreate");
  const cusparseStatus_t status = cusparse().create_mat_descr(&general_);
  if (status != CUSPARSE_STATUS_SUCCESS) cusparse().destroy(handle_);
  check(status, "cusparseCreateMatDescr");
}

CuSparseHandle::~CuSparseHandle() {
  cusparse().destroy_mat_descr(general_);
  cusparse().destroy(handle_);
}

cusparseHandle_t CuSparseHandle::on(const Stream& stream) const {
  check(cusparse().set_stream(handle_, stream.queue), "cusparseSetStream");
  return handle_;
}

CuBlasHandle::CuBlasHandle(const Device& device)
    : workspace_(std::size_t(32) << 20, device) {  // recommended by NVIDIA for Hopper
  const cuda::OnGpu here(device.stream());
  check(cublas().create(&handle_), "cublasCreate");
}

CuBlasHandle::~CuBlasHandle() { cublas().destroy(handle_); }

cublasHandle_t CuBlasHandle::on(const Stream& stream) {
  if (queue_ == stream.queue) return handle_;
  check(cublas().set_stream(handle_, stream.queue), "cublasSetStream");
  // Must follow the stream, which restores the library's own workspace.
  check(cublas().set_workspace(handle_, workspace_.data(), workspace_.size()),
        "cublasSetWorkspace");
  queue_ = stream.queue;
  return handle_;
}

void CuBlasHandle::set_pointer_mode(cublasPointerMode_t mode) const {
  check(cublas().set_pointer_mode(handle_, mode), "cublasSetPointerMode");
}

}  // namespace heddle::bench
