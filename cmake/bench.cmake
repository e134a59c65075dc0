# The libraries that `heddle bench` compares heddle with, each if it is found: Eigen, CUDA's own
# libraries (headers only; they are opened when they are needed), AMGCL (headers of a checkout) and
# PETSc, in a separate program so that heddle starts without it.
set(HEDDLE_AMGCL_INCLUDE_DIR "" CACHE PATH "Folder that holds amgcl/amg.hpp, for `heddle bench`")

file(GLOB bench_sources CONFIGURE_DEPENDS apps/bench/*/*.cpp)
list(REMOVE_ITEM bench_sources ${PROJECT_SOURCE_DIR}/apps/bench/peers/petsc_program.cpp
  ${PROJECT_SOURCE_DIR}/apps/bench/peers/petsc_multigrid.cpp
  ${PROJECT_SOURCE_DIR}/apps/bench/peers/petsc_conjugate_gradient.cpp
  ${PROJECT_SOURCE_DIR}/apps/bench/peers/amgcl_multigrid.cpp)
# Headers of cuSPARSE and cuBLAS come with most toolkits.
find_path(HEDDLE_CUSPARSE_INCLUDE_DIR cusparse.h HINTS ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH)
find_path(HEDDLE_CUBLAS_INCLUDE_DIR cublas_v2.h HINTS ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH)
mark_as_advanced(HEDDLE_CUSPARSE_INCLUDE_DIR HEDDLE_CUBLAS_INCLUDE_DIR)
set(bench_has_cuda FALSE)
# A pass is compiled by nvcc if there is CUDA, else as C++.
set(bench_passes apps/bench/suites/assembly_passes.cu)
if(NOT HEDDLE_HAS_CUDA)
  set_source_files_properties(${bench_passes} PROPERTIES LANGUAGE CXX)
endif()
if(HEDDLE_HAS_CUDA AND HEDDLE_CUSPARSE_INCLUDE_DIR AND HEDDLE_CUBLAS_INCLUDE_DIR)
  set(bench_has_cuda TRUE)
  file(GLOB bench_kernels CONFIGURE_DEPENDS apps/bench/peers/*.cu apps/bench/primitives/*.cu)
  list(APPEND bench_sources ${bench_kernels})
else()
  list(FILTER bench_sources EXCLUDE REGEX "_cuda\\.cpp$")
endif()
add_library(heddle_bench STATIC ${bench_sources} ${bench_passes})
target_link_libraries(heddle_bench PUBLIC heddle heddle_report heddle_command nlohmann_json::nlohmann_json PRIVATE ${CMAKE_DL_LIBS})
target_include_directories(heddle_bench PUBLIC apps/bench)
heddle_compiler_options(heddle_bench)
heddle_link_cuda(heddle_bench)
# Peers and the loops that trees are compared with compute here; the files that measure and show
# them do not. In builds whose times are not read, all are compiled quickly.
set(measured_sources ${bench_sources})
list(FILTER measured_sources INCLUDE REGEX "/[^/]*(peer|reference|textbook|problem|patterns|lengths|formats|hierarchical)[^/]*\\.cpp$")
if(HEDDLE_QUICK_CHECK)
  # Some of their helpers share a name.
  set_property(SOURCE ${measured_sources} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
endif()
heddle_compile_quickly(heddle_bench EXCEPT ${measured_sources})
# In these builds it only parses its options, and refuses them.
if(HEDDLE_SANITIZE_SOME)
  target_compile_options(heddle_bench PRIVATE -fno-sanitize=all)
endif()
heddle_precompile(heddle_bench <nlohmann/json.hpp> <heddle/heddle.hpp>)

# Eigen's products run on all cores by OpenMP, if there is one; AMGCL does not compile without it.
# The thread sanitizer does not see OpenMP's own synchronisation, and would report races.
if(HEDDLE_AMGCL_INCLUDE_DIR)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
elseif(NOT HEDDLE_SANITIZE MATCHES thread)
  find_package(OpenMP QUIET COMPONENTS CXX)
endif()
if(OpenMP_CXX_FOUND)
  target_link_libraries(heddle_bench PRIVATE OpenMP::OpenMP_CXX)
endif()
find_package(Eigen3 QUIET NO_MODULE)
if(Eigen3_FOUND AND NOT HEDDLE_SANITIZE_SOME)
  target_link_libraries(heddle_bench PRIVATE Eigen3::Eigen)
  target_compile_definitions(heddle_bench PRIVATE HEDDLE_BENCH_EIGEN)
endif()
if(bench_has_cuda)
  target_include_directories(heddle_bench SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
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
  # Built on request: `ninja heddle_amgcl_multigrid`.
  add_executable(heddle_amgcl_multigrid EXCLUDE_FROM_ALL apps/bench/peers/amgcl_multigrid.cpp)
  target_include_directories(heddle_amgcl_multigrid SYSTEM PRIVATE ${HEDDLE_AMGCL_INCLUDE_DIR})
  target_link_libraries(heddle_amgcl_multigrid PRIVATE heddle Boost::headers OpenMP::OpenMP_CXX)
endif()

heddle_petsc_program(heddle_petsc_peer apps/bench/peers/petsc_program.cpp heddle)
# Built on request: `ninja heddle_petsc_multigrid`.
foreach(name multigrid conjugate_gradient)
  heddle_petsc_program(heddle_petsc_${name} apps/bench/peers/petsc_${name}.cpp heddle)
  if(TARGET heddle_petsc_${name})
    set_target_properties(heddle_petsc_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endforeach()
