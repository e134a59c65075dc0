# The files tests/<folder>/*_test.cpp are one executable, <folder>_test; its tests carry the folder as
# their label.
include(GoogleTest)
include(cmake/grouped_tests.cmake)

# OpenMP threads, which other libraries use, sleep instead of spinning: tests share the cores.
set(test_environment OMP_WAIT_POLICY=passive)
# The longest tests begin first, so that short ones are left to run next to the last of them.
set(long_tests spmv bench cli)

# Optimised, and compiled last: batches small enough to keep every core busy until the end.
set(batch_of_solvers 12)
set(batch_of_spmv 5)

# A test spends its time in the library, so its own code is optimised less: it compiles in half the time,
# or in a third of it in builds that only check. Excepted there are references of solvers and products,
# searches, and readers of compiled kernels: they would run longer by more than that saves.
function(heddle_test_options target)
  heddle_compiler_options(${target})
  set(level -O1)
  if(HEDDLE_SANITIZE OR
     (HEDDLE_QUICK_CHECK AND NOT target MATCHES "^(heddle_test_support|(matrix|multigrid|preconditioners|solvers|spmv|subspace|tuning)_test)$"))
    set(level -O0)
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${level}>)
  if(HEDDLE_QUICK_CHECK AND level STREQUAL "-O1")
    return()  # g++ does not accept headers that were precompiled without optimisation
  endif()
  if(TARGET heddle_test_headers AND NOT target STREQUAL heddle_test_headers)
    target_precompile_headers(${target} REUSE_FROM heddle_test_headers)
    heddle_precompiled_options(${target})
  endif()
endfunction()

if(HEDDLE_PRECOMPILE_HEADERS)
  file(CONFIGURE OUTPUT test_headers.cpp CONTENT "")
  add_library(heddle_test_headers OBJECT ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(heddle_test_headers PRIVATE
    heddle GTest::gtest Eigen3::Eigen nlohmann_json::nlohmann_json)
  heddle_test_options(heddle_test_headers)
  heddle_precompile(heddle_test_headers
    <gtest/gtest.h> <Eigen/Dense> <Eigen/Sparse> <nlohmann/json.hpp> <heddle/heddle.hpp>)
endif()

# Code that the tests of several folders share.
add_library(heddle_test_support STATIC
  tests/support/systems/dense_factors.cpp tests/support/rare_entries.cpp tests/support/systems/systems.cpp)
# Each of the first two takes a minute.
set_target_properties(heddle_test_support PROPERTIES UNITY_BUILD OFF)
target_include_directories(heddle_test_support PUBLIC ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(heddle_test_support PUBLIC
  HEDDLE_TEST_EVERY_ENTRY=$<BOOL:${HEDDLE_CHECK_REPEATS}>
  HEDDLE_TEST_QUICK_CHECK=$<BOOL:${HEDDLE_QUICK_CHECK}>)
target_link_libraries(heddle_test_support
  PUBLIC heddle GTest::gtest Eigen3::Eigen nlohmann_json::nlohmann_json)
heddle_test_options(heddle_test_support)

file(GLOB test_sources CONFIGURE_DEPENDS tests/*/*_test.cpp)
# Tests of a GPU are one program, which can be copied to a machine that has one. Elsewhere each of
# its tests skips, and the presets leave it out unless it is requested by name, or scripts/deep-check
# builds it.
file(GLOB gpu_sources CONFIGURE_DEPENDS
  tests/gpu/*_test.cpp tests/gpu/*_test.cu tests/gpu/*/*_test.cpp tests/gpu/*/*_test.cu)
list(REMOVE_ITEM test_sources ${gpu_sources})
if(NOT TARGET heddle_elastic)
  list(FILTER gpu_sources EXCLUDE REGEX "/gpu/programs/")
endif()
if(HEDDLE_HAS_CUDA AND gpu_sources)
  add_executable(gpu_test ${gpu_sources})
  target_link_libraries(gpu_test PRIVATE heddle_test_support GTest::gtest_main
    $<TARGET_NAME_IF_EXISTS:heddle_elastic> $<TARGET_NAME_IF_EXISTS:heddle_spin>
    $<TARGET_NAME_IF_EXISTS:heddle_heart> Eigen3::Eigen)
  heddle_link_cuda(gpu_test)
  # Requirements on the other machine: the C library, the driver, and libzip with its dependencies,
  # which can be copied along.
  target_link_options(gpu_test PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed -s)
  heddle_test_options(gpu_test)
  execute_process(COMMAND nvidia-smi -L OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE no_gpu)
  if(HEDDLE_THIS_MACHINE AND no_gpu AND NOT HEDDLE_DEEP_CHECK)
    set_target_properties(gpu_test PROPERTIES EXCLUDE_FROM_ALL ON)
    # Kernels that are compiled only to be checked (cuda.cmake) run for minutes, and round
    # differently.
    if(HEDDLE_QUICK_CHECK)
      add_custom_target(refuse_gpu_test
        COMMAND ${CMAKE_COMMAND} -E echo "gpu_test wants a build without HEDDLE_QUICK_CHECK, which leaves kernels unoptimised"
        COMMAND ${CMAKE_COMMAND} -E false)
      add_dependencies(gpu_test refuse_gpu_test)
    endif()
  else()
    add_test(NAME gpu.skips_without_a_gpu COMMAND gpu_test)
    set_tests_properties(gpu.skips_without_a_gpu PROPERTIES LABELS gpu TIMEOUT 600)
  endif()
endif()
if(NOT TARGET heddle_bench)
  list(FILTER test_sources EXCLUDE REGEX "/tests/(bench|report|mesh|spin|elastic|heart)/")
endif()
# If a build only checks, a file runs in one of two builds, or in both: its first line or its folder says
# that (tests/support/where_it_runs.hpp). Numbers of optimised loops, and tests that take minutes with
# sanitizers, are in the release; all others run under sanitizers. Both builds have the tests that run
# each command, and those without which sanitizers would miss a loop of the library.
if(HEDDLE_QUICK_CHECK)
  foreach(source IN LISTS test_sources)
    file(STRINGS ${source} line LIMIT_COUNT 1)
    set(is_of_release FALSE)
    if(line STREQUAL "// Runs in both builds.")
      continue()
    elseif(line STREQUAL "// Runs in the release." OR source MATCHES "/tests/(base|bench|elastic|heart|spin)/")
      set(is_of_release TRUE)
    elseif(line MATCHES "^// Runs? in ")
      message(FATAL_ERROR "${source}: no build has \"${line}\"")
    endif()
    if((HEDDLE_SANITIZE AND is_of_release) OR NOT (HEDDLE_SANITIZE OR is_of_release))
      list(REMOVE_ITEM test_sources ${source})
    endif()
  endforeach()
endif()
if(HEDDLE_SANITIZE_SOME)
  list(FILTER test_sources EXCLUDE REGEX "/tests/((bench|spin|elastic|heart)/|cli/command_bench_test)")
endif()
set(test_labels "")
foreach(source ${test_sources})
  cmake_path(GET source PARENT_PATH folder)
  cmake_path(GET folder FILENAME label)
  list(APPEND test_labels ${label})
  list(APPEND ${label}_test_sources ${source})
endforeach()
list(REMOVE_DUPLICATES test_labels)
foreach(label ${test_labels})
  set(name ${label}_test)
  add_executable(${name} ${${label}_test_sources})
  target_compile_definitions(${name} PRIVATE HEDDLE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE
    heddle_test_support GTest::gtest_main ZLIB::ZLIB)
  if(label MATCHES "^(cli|spin|elastic|heart)$" AND TARGET heddle_cli)
    target_compile_definitions(${name} PRIVATE HEDDLE_PROGRAM="$<TARGET_FILE:heddle_cli>")
    add_dependencies(${name} heddle_cli heddle_tune_program heddle_bench_program)
  endif()
  if(label STREQUAL cli AND TARGET heddle_heart_program)  # of docs/papers.md
    add_dependencies(${name} heddle_heart_program)
  endif()
  if(label STREQUAL bench)
    target_link_libraries(${name} PRIVATE heddle_bench)
    if(TARGET heddle_petsc_peer)
      add_dependencies(${name} heddle_petsc_peer)
    endif()
  endif()
  if(label STREQUAL c)
    target_link_libraries(${name} PRIVATE heddle_c)
  endif()
  if(label STREQUAL report)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/apps/tune)
    target_link_libraries(${name} PRIVATE heddle_tune)
  endif()
  if(label MATCHES "^(mesh|spin|elastic|heart)$")
    target_link_libraries(${name} PRIVATE heddle_${label})
  endif()
  if(label MATCHES "^(spin|elastic|heart)$" AND TARGET heddle_${label}_program)
    string(TOUPPER ${label} program)
    target_compile_definitions(${name} PRIVATE
      HEDDLE_${program}_PROGRAM="$<TARGET_FILE:heddle_${label}_program>")
    add_dependencies(${name} heddle_${label}_program)
  endif()
  heddle_test_options(${name})
  if(batch_of_${label} AND NOT HEDDLE_SANITIZE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE ${batch_of_${label}})
  endif()
  set(cost 0)
  if(label IN_LIST long_tests)
    set(cost 100)
  endif()
  # Tests that compile hundreds of kernels take minutes, more alongside other work.
  gtest_discover_tests(${name}
    DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS ${label} ENVIRONMENT "${test_environment}" TIMEOUT 1200 COST ${cost})
  heddle_group_tests(${name} ${label} ${cost})
endforeach()

# Processes of MPI compared with threads of one process, more of them than there are cores.
if(TARGET heddle_mpi_program AND NOT HEDDLE_SANITIZE)
  add_test(NAME distributed.mpi
    COMMAND ${PROJECT_SOURCE_DIR}/tests/distributed/mpi_ranks.sh $<TARGET_FILE:heddle_cli>
      $<TARGET_FILE:heddle_mpi_program> ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG})
  set_tests_properties(distributed.mpi PROPERTIES LABELS distributed TIMEOUT 120)
endif()

# Iterations compared with those of SciPy's and PETSc's methods: skipped without SciPy.
if(TARGET heddle_cli AND NOT HEDDLE_SANITIZE)
  add_test(NAME methods.as_elsewhere
    COMMAND ${PROJECT_SOURCE_DIR}/scripts/compare-methods --quick --heddle $<TARGET_FILE:heddle_cli>)
  set_tests_properties(methods.as_elsewhere PROPERTIES LABELS solvers SKIP_RETURN_CODE 77 TIMEOUT 600)
  # Convergence factors compared with PyAMG's: skipped without PyAMG.
  add_test(NAME multigrid.as_elsewhere
    COMMAND ${PROJECT_SOURCE_DIR}/scripts/compare-multigrid --heddle $<TARGET_FILE:heddle_cli>)
  set_tests_properties(multigrid.as_elsewhere PROPERTIES LABELS solvers SKIP_RETURN_CODE 77 TIMEOUT 120)
endif()

# Entries and kernels that GPUs get as text.
set(texts tests/entries/dual_complex.hpp tests/support/element_kernels.hpp)
set(texts_of_trees tests/hierarchical/absolute_row_sums.hpp)
heddle_embed_entry(spmv_test ${texts})
heddle_embed_entry(hierarchical_test ${texts_of_trees})
if(TARGET gpu_test)
  heddle_embed_entry(gpu_test ${texts} ${texts_of_trees})
endif()

# Entries that lack something must fail to compile with an error that names it.
set(faulty_entries ${PROJECT_SOURCE_DIR}/tests/entries/faulty/check.sh)
if(EXISTS ${faulty_entries})
  add_test(NAME entries.faulty
    COMMAND sh ${faulty_entries} ${CMAKE_CXX_COMPILER} -std=c++20 -I ${PROJECT_SOURCE_DIR}/include)
  set_tests_properties(entries.faulty PROPERTIES LABELS entries)
endif()

# Headers that NVRTC compiles must not include anything.
add_test(NAME entries.include_nothing
  COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -nostdinc -I ${PROJECT_SOURCE_DIR}/include
    -include heddle/entries.hpp -include heddle/entries/row_product.hpp -x c++ /dev/null)
set_tests_properties(entries.include_nothing PROPERTIES LABELS entries)

# The inputs that fuzzing starts from, each read once without libFuzzer. If there are fuzzers, as in
# .ci/run, scripts/fuzz begins with these inputs.
set(fuzz_sources "")
if(NOT HEDDLE_BUILD_FUZZERS AND NOT HEDDLE_QUICK_CHECK)
  file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/*_fuzz.cpp)
endif()
if(NOT TARGET heddle_mesh)
  list(FILTER fuzz_sources EXCLUDE REGEX "(_mesh|image)_fuzz")
endif()
foreach(source ${fuzz_sources})
  cmake_path(GET source STEM fuzz_name)
  string(REGEX REPLACE "_fuzz$" "" corpus ${fuzz_name})
  add_executable(${corpus}_replay ${source} tests/fuzz/replay_main.cpp)
  target_include_directories(${corpus}_replay PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${corpus}_replay PRIVATE heddle)
  if(corpus MATCHES "_mesh$")
    target_link_libraries(${corpus}_replay PRIVATE heddle_mesh)
  endif()
  if(corpus STREQUAL c_interface)
    target_link_libraries(c_interface_replay PRIVATE heddle_c)
  endif()
  if(corpus STREQUAL image)
    target_link_libraries(image_replay PRIVATE heddle_spin)
  endif()
  heddle_compiler_options(${corpus}_replay)
  add_test(NAME fuzz.${corpus}
    COMMAND ${corpus}_replay ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${corpus})
  set_tests_properties(fuzz.${corpus} PROPERTIES LABELS fuzz)
endforeach()

if(NOT HEDDLE_SANITIZE)
  add_test(NAME c.symbols
    COMMAND ${CMAKE_COMMAND} -D nm=${CMAKE_NM} -D library=$<TARGET_FILE:heddle_c>
      -D list=${PROJECT_SOURCE_DIR}/bindings/c/symbols.txt
      -P ${PROJECT_SOURCE_DIR}/tests/c/symbols.cmake)
  set_tests_properties(c.symbols PROPERTIES LABELS c)
endif()

# Two projects that use heddle, one installed, one as a subdirectory. A sanitized library only links
# to sanitized programs, so they are left out of those builds.
if(NOT HEDDLE_SANITIZE)
  foreach(use find_package add_subdirectory)
    add_test(NAME package.${use}
      COMMAND ${CMAKE_COMMAND}
        -D use=${use}
        -D source_folder=${PROJECT_SOURCE_DIR}
        -D build_folder=${PROJECT_BINARY_DIR}
        -D generator=${CMAKE_GENERATOR}
        -D compiler=${CMAKE_CXX_COMPILER}
        -D version=${PROJECT_VERSION}
        -P ${PROJECT_SOURCE_DIR}/tests/package/consume.cmake)
    set_tests_properties(package.${use} PROPERTIES LABELS package TIMEOUT 1500 COST 200)
  endforeach()
endif()
