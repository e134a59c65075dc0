# Configures, builds and runs tests/package/<use> in the build folder's scratch space; fails unless
# the program solves its system. As a subdirectory heddle is only configured, but in deep checks.
set(scratch ${build_folder}/package/${use})
file(REMOVE_RECURSE ${scratch})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(use STREQUAL find_package)
  run(${CMAKE_COMMAND} --install ${build_folder} --prefix ${scratch}/prefix)
  set(location -D CMAKE_PREFIX_PATH=${scratch}/prefix)
else()
  set(location -D HEDDLE_SOURCE=${source_folder})
endif()
# Unoptimised: what is tested is that it builds.
set(configure ${CMAKE_COMMAND} -S ${source_folder}/tests/package/${use} -B ${scratch}/build
  -G ${generator} -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_BUILD_TYPE=Debug
  -D CMAKE_CXX_FLAGS_DEBUG=-O0 ${location})
run(${configure})
# A second build of the library takes minutes: with HEDDLE_DEEP_CHECK set it is made.
if(use STREQUAL add_subdirectory AND NOT DEFINED ENV{HEDDLE_DEEP_CHECK})
  run(${configure} -D HEDDLE_CUDA=OFF)
  return()
endif()
run(${CMAKE_COMMAND} --build ${scratch}/build --parallel 2)

# The program is README's; it reads a 2 x 2 quaternion matrix, the components of an entry in a column.
file(READ ${source_folder}/README.md readme)
file(READ ${source_folder}/tests/package/main.cpp program)
string(FIND "${readme}" "${program}" found)
if(found EQUAL -1)
  message(FATAL_ERROR "README.md does not show tests/package/main.cpp as it is")
endif()
file(WRITE ${scratch}/build/dirac.mtx "%%MatrixMarket matrix coordinate real general\n8 2 6\n"
  "1 1 3\n5 2 2\n2 2 1\n6 1 -1\n3 2 0.5\n7 1 -0.5\n")
execute_process(COMMAND ${scratch}/build/consumer WORKING_DIRECTORY ${scratch}/build
  OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "the consumer printed: ${output}")
if(NOT output MATCHES "^converged in [1-9]")
  message(FATAL_ERROR "expected 'converged in ...' from it")
endif()
run(${scratch}/build/entry_consumer)
