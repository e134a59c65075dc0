# What `heddle bench` measures beside heddle, each where it is found: Eigen, CUDA's own libraries
# (headers only; they are opened when they are needed), AMGCL (headers of a checkout) and PETSc, in a
# program of its own so that heddle starts without it.
set(HEDDLE_AMGCL_INCLUDE_DIR "" CACHE PATH "Folder that holds amgcl/amg.hpp, for `heddle bench`")

# The commit that a run is of: found out at every build, written where it has changed.
add_custom_target(heddle_commit
  COMMAND ${CMAKE_COMMAND} -D source_folder=${PROJECT_SOURCE_DIR}
    -D header=${PROJECT_BINARY_DIR}/commit/heddle_commit.hpp -P ${PROJECT_SOURCE_DIR}/cmake/commit.cmake
  BYPRODUCTS ${PROJECT_BINARY_DIR}/commit/heddle_commit.hpp
  COMMENT "")

file(GLOB bench_sources CONFIGURE_DEPENDS apps/bench/*.cpp)
list(REMOVE_ITEM bench_sources ${PROJECT_SOURCE_DIR}/apps/bench/petsc_program.cpp)
# Headers of cuSPARSE and cuBLAS come with most toolkits.
find_path(HEDDLE_CUSPARSE_INCLUDE_DIR cusparse.h HINTS ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH)
find_path(HEDDLE_CUBLAS_INCLUDE_DIR cublas_v2.h HINTS ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH)
mark_as_advanced(HEDDLE_CUSPARSE_INCLUDE_DIR HEDDLE_CUBLAS_INCLUDE_DIR)
set(bench_has_cuda FALSE)
if(HEDDLE_HAS_CUDA AND HEDDLE_CUSPARSE_INCLUDE_DIR AND HEDDLE_CUBLAS_INCLUDE_DIR)
  set(bench_has_cuda TRUE)
  file(GLOB bench_kernels CONFIGURE_DEPENDS apps/bench/*.cu)
  list(APPEND bench_sources ${bench_kernels})
else()
  list(FILTER bench_sources EXCLUDE REGEX "_cuda\\.cpp$")
endif()
add_library(heddle_bench STATIC ${bench_sources} apps/heddle/plan_text.cpp)
target_link_libraries(heddle_bench PUBLIC heddle nlohmann_json::nlohmann_json PRIVATE ${CMAKE_DL_LIBS})
heddle_compiler_options(heddle_bench)
heddle_precompile(heddle_bench <nlohmann/json.hpp> <heddle/heddle.hpp>)

find_package(Eigen3 QUIET NO_MODULE)
if(Eigen3_FOUND)
  target_link_libraries(heddle_bench PRIVATE Eigen3::Eigen)
  target_compile_definitions(heddle_bench PRIVATE HEDDLE_BENCH_EIGEN)
endif()
if(bench_has_cuda)
  target_include_directories(heddle_bench SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  heddle_link_cuda(heddle_bench)
  target_compile_definitions(heddle_bench PRIVATE HEDDLE_BENCH_CUDA)
endif()
if(HEDDLE_AMGCL_INCLUDE_DIR)
  if(NOT EXISTS ${HEDDLE_AMGCL_INCLUDE_DIR}/amgcl/amg.hpp)
    message(FATAL_ERROR "heddle: HEDDLE_AMGCL_INCLUDE_DIR=${HEDDLE_AMGCL_INCLUDE_DIR} holds no "
      "amgcl/amg.hpp")
  endif()
  target_include_directories(heddle_bench SYSTEM PRIVATE ${HEDDLE_AMGCL_INCLUDE_DIR})
  target_link_libraries(heddle_bench PRIVATE Boost::headers)
  target_compile_definitions(heddle_bench PRIVATE HEDDLE_BENCH_AMGCL)
endif()

if(EXISTS ${PROJECT_SOURCE_DIR}/apps/bench/petsc_program.cpp)
  find_package(MPI QUIET COMPONENTS CXX)
  pkg_check_modules(petsc QUIET IMPORTED_TARGET petsc)
  if(petsc_FOUND AND MPI_CXX_FOUND)
    add_executable(heddle_petsc_peer apps/bench/petsc_program.cpp)
    target_link_libraries(heddle_petsc_peer PRIVATE heddle PkgConfig::petsc MPI::MPI_CXX)
    heddle_compiler_options(heddle_petsc_peer)
  endif()
endif()
