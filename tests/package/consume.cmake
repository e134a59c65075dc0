# Configures, builds and runs tests/package/<use> in the build folder's scratch space; fails unless
# the program solves its system. If heddle is a subdirectory, it is only configured, except in deep
# checks.
set(scratch ${build_folder}/package/${use})
file(REMOVE_RECURSE ${scratch})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

load_cache(${build_folder} READ_WITH_PREFIX built_ HEDDLE_NVCC)
if(use STREQUAL find_package)
  run(${CMAKE_COMMAND} --install ${build_folder} --prefix ${scratch}/installed)
  foreach(file share/doc/heddle/README.md share/doc/heddle/docs/README.md
      share/doc/heddle/examples/quick_start.cpp include/heddle.f90)
    if(NOT EXISTS ${scratch}/installed/${file})
      message(FATAL_ERROR "${file} is not installed")
    endif()
  endforeach()
  # An installation may move.
  file(RENAME ${scratch}/installed ${scratch}/prefix)
  set(location -D CMAKE_PREFIX_PATH=${scratch}/prefix)
  # If the library has CUDA, its headers are for nvcc too.
  file(STRINGS ${scratch}/prefix/include/heddle/config.hpp with_cuda REGEX "has_cuda = true")
  if(with_cuda)
    list(APPEND location -D CMAKE_CUDA_COMPILER=${built_HEDDLE_NVCC})
  endif()
else()
  set(location -D HEDDLE_SOURCE=${source_folder} -D HEDDLE_CUDA=OFF)
endif()
# Unoptimised: the test is only that it builds.
set(configure ${CMAKE_COMMAND} -S ${source_folder}/tests/package/${use} -B ${scratch}/build
  -G ${generator} -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_BUILD_TYPE=Debug
  -D CMAKE_CXX_FLAGS_DEBUG=-O0 ${location})
# A second build of the library takes minutes: it is made only with HEDDLE_DEEP_CHECK set, as a
# shared library.
if(use STREQUAL add_subdirectory AND DEFINED ENV{HEDDLE_DEEP_CHECK})
  list(APPEND configure -D BUILD_SHARED_LIBS=ON)
endif()
run(${configure})
if(use STREQUAL add_subdirectory AND NOT DEFINED ENV{HEDDLE_DEEP_CHECK})
  return()
endif()
run(${CMAKE_COMMAND} --build ${scratch}/build --parallel 2)

# The program is the one in README; it reads a 2 x 2 quaternion matrix, with the components of an
# entry in a column.
file(WRITE ${scratch}/build/dirac.mtx "%%MatrixMarket matrix coordinate real general\n8 2 6\n"
  "1 1 3\n5 2 2\n2 2 1\n6 1 -1\n3 2 0.5\n7 1 -0.5\n")
execute_process(COMMAND ${scratch}/build/consumer dirac.mtx
  WORKING_DIRECTORY ${scratch}/build OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "the consumer printed: ${output}")
if(NOT output MATCHES "^converged in [1-9]")
  message(FATAL_ERROR "expected 'converged in ...' from it")
endif()
run(${scratch}/build/entry_consumer)

# The same installation through pkg-config.
if(use STREQUAL find_package)
  file(GLOB_RECURSE package_file ${scratch}/prefix/*/heddle.pc)
  cmake_path(GET package_file PARENT_PATH package_folder)
  set(ENV{PKG_CONFIG_PATH} ${package_folder})
  execute_process(COMMAND pkg-config --cflags --libs heddle OUTPUT_VARIABLE flags
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${compiler} -std=c++20 ${source_folder}/tests/package/pkg_config.cpp ${flags}
    -Wl,-rpath,${package_folder}/.. -o ${scratch}/pkg_config_consumer)
  run(${scratch}/pkg_config_consumer)
endif()

# A project in C alone, by both.
if(use STREQUAL find_package)
  run(${CMAKE_COMMAND} -S ${source_folder}/tests/package/c_only -B ${scratch}/c_only -G ${generator}
    -D CMAKE_PREFIX_PATH=${scratch}/prefix)
  run(${CMAKE_COMMAND} --build ${scratch}/c_only)
  run(${scratch}/c_only/consumer ${scratch}/build/dirac.mtx)
  execute_process(COMMAND pkg-config --cflags --libs heddle-c OUTPUT_VARIABLE flags
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(cc -std=c99 -pedantic -Werror ${source_folder}/examples/c/quick_start.c ${flags}
    -Wl,-rpath,${package_folder}/.. -o ${scratch}/c_pkg_config_consumer)
  run(${scratch}/c_pkg_config_consumer ${scratch}/build/dirac.mtx)
endif()
