# Configures, builds and runs tests/package/<use> in the build folder's scratch space; fails unless
# the program prints the version of the heddle that was built.
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
# Unoptimised: what is tested is that it builds, and the second build of the library takes longest.
run(${CMAKE_COMMAND} -S ${source_folder}/tests/package/${use} -B ${scratch}/build
  -G ${generator} -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_BUILD_TYPE=Debug
  -D CMAKE_CXX_FLAGS_DEBUG=-O0 ${location})
run(${CMAKE_COMMAND} --build ${scratch}/build --parallel 2)

execute_process(COMMAND ${scratch}/build/consumer OUTPUT_VARIABLE output
  COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "the consumer printed: ${output}")
if(NOT output MATCHES "heddle ${version}")
  message(FATAL_ERROR "expected 'heddle ${version}' in it")
endif()
