# The CUDA backend: files named *_cuda.cpp and *.cu, built if a toolkit (13 or newer) is found. Only
# the static run-time library is linked: programs start without a driver, and the run-time compiler
# is opened at first use.

# For other machines: machine code for the cards that matter today, and PTX for those to come. For
# this machine alone, which takes half the time: machine code for its GPUs. If it has none, the
# backend, a quarter of all that compiles, is left out unless it is requested by HEDDLE_CUDA=ON or
# by architectures; a build that checks includes it.
set(use_cuda ${HEDDLE_CUDA})
if(NOT HEDDLE_CUDA STREQUAL "OFF" AND NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
  if(HEDDLE_THIS_MACHINE)
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE capabilities ERROR_QUIET RESULT_VARIABLE no_gpu)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]+" capabilities "${capabilities}")
    list(TRANSFORM capabilities REPLACE "\\." "")
    list(REMOVE_DUPLICATES capabilities)
    if(no_gpu OR NOT capabilities)
      set(no_gpu TRUE)
      set(capabilities ${CMAKE_CUDA_ARCHITECTURES})
      if(HEDDLE_QUICK_CHECK OR HEDDLE_DEEP_CHECK)
        set(capabilities 90)
      elseif(NOT HEDDLE_CUDA STREQUAL "ON")
        set(use_cuda OFF)
      endif()
    endif()
    set(CMAKE_CUDA_ARCHITECTURES ${capabilities})
  endif()
endif()

set(HEDDLE_HAS_CUDA false)
if(NOT use_cuda STREQUAL "OFF" AND NOT HEDDLE_SANITIZE)
  if(NOT CMAKE_CUDA_COMPILER)
    find_program(HEDDLE_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES bin)
    if(HEDDLE_NVCC)
      set(CMAKE_CUDA_COMPILER ${HEDDLE_NVCC})
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit 13.0 QUIET)
  endif()
  if(CUDAToolkit_FOUND)
    set(HEDDLE_HAS_CUDA true)
    # A driver unpacks machine code when one of its kernels first runs; compressed code is a fifth
    # as large.
    add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>)
    # Kernels that cannot run on this machine are compiled only to be checked.
    if(HEDDLE_QUICK_CHECK AND no_gpu)
      add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:--Ofast-compile=max>)
      set(CMAKE_CUDA_FLAGS_RELEASE "-O1 -DNDEBUG")
    endif()
  elseif(HEDDLE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "heddle: HEDDLE_CUDA=ON, and no CUDA toolkit of 13.0 or newer was found")
  endif()
endif()
set(why "")
if(no_gpu AND use_cuda STREQUAL "OFF")
  set(why " (this machine holds no GPU; HEDDLE_CUDA=ON builds it all the same)")
endif()
message(STATUS "heddle: CUDA backend: ${HEDDLE_HAS_CUDA}${why}")

# Files with a helper that has the same name as another file's, or that define templates which the
# other file instantiates.
set(HEDDLE_CUDA_ALONE short_columns sliced_pattern counted_pairs inner_levels leaf_sums merged_nodes
  tree_of_rows write_level rank_sums level_values)

# heddle_unite_cuda(list): in a build that compiles files together, the CUDA files of a folder of src/
# become one for nvcc and one for C++: most of a short file is its headers.
function(heddle_unite_cuda list)
  if(NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  list(JOIN HEDDLE_CUDA_ALONE "|" alone)
  set(united "")
  set(units "")
  foreach(source ${${list}})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE place)
    string(REGEX REPLACE "^src/([^/]+)/.*/" "src/\\1/" place ${place})
    if(source MATCHES "/(${alone})_cuda\\." OR NOT place MATCHES "([^/]+)/[^/]+(_cuda\\.cpp|\\.cu)$")
      list(APPEND united ${source})
      continue()
    endif()
    set(unit ${CMAKE_MATCH_1}_cuda)
    cmake_path(GET source EXTENSION LAST_ONLY extension)
    string(APPEND unit ${extension})
    list(APPEND units ${unit})
    string(APPEND text_of_${unit} "#include \"${source}\"\n")
  endforeach()
  list(REMOVE_DUPLICATES units)
  foreach(unit ${units})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/Unity/${unit} CONTENT "${text_of_${unit}}")
    list(APPEND united ${PROJECT_BINARY_DIR}/Unity/${unit})
  endforeach()
  set(${list} ${united} PARENT_SCOPE)
endfunction()

# Adds kernels to a list that holds every src/*/*.cpp, or removes the CUDA files from it.
function(heddle_cuda_sources list)
  set(sources ${${list}})
  if(HEDDLE_HAS_CUDA)
    file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/*.cu ${PROJECT_SOURCE_DIR}/src/*/*/*.cu)
    list(APPEND sources ${kernels})
    heddle_unite_cuda(sources)
  else()
    list(FILTER sources EXCLUDE REGEX "_cuda\\.cpp$")
  endif()
  set(${list} ${sources} PARENT_SCOPE)
endfunction()

function(heddle_link_cuda target)
  if(NOT HEDDLE_HAS_CUDA)
    return()
  endif()
  target_link_libraries(${target} PRIVATE CUDA::cudart_static)
  # Passed as an option: CMake 3.25 leaves out the flag of CUDA_STANDARD.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20> $<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda>)
  set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Static)
endfunction()

# heddle_embed_device_runtime(target): gives `target` the bytes of libcudadevrt.a, with which programs
# are linked whose kernels launch kernels (src/spmv/device_linker.hpp).
function(heddle_embed_device_runtime target)
  if(NOT HEDDLE_HAS_CUDA)
    return()
  endif()
  find_library(HEDDLE_DEVICE_RUNTIME cudadevrt PATHS ${CUDAToolkit_LIBRARY_DIR} NO_DEFAULT_PATH
    REQUIRED)
  mark_as_advanced(HEDDLE_DEVICE_RUNTIME)
  set(file ${PROJECT_BINARY_DIR}/device_runtime.cpp)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT [[
#include "spmv/device_linker.hpp"

// The symbols are local to this file.
asm(".pushsection .rodata\n.balign 16\n"
    "heddle_device_runtime_begin: .incbin \"@HEDDLE_DEVICE_RUNTIME@\"\n"
    "heddle_device_runtime_end: .popsection\n");
extern "C" __attribute__((visibility("hidden"))) const char heddle_device_runtime_begin[];
extern "C" __attribute__((visibility("hidden"))) const char heddle_device_runtime_end[];

std::span<const char> heddle::cuda::device_runtime() {
  return {heddle_device_runtime_begin, heddle_device_runtime_end};
}
]])
  target_sources(${target} PRIVATE ${file})
  set_source_files_properties(${file} PROPERTIES OBJECT_DEPENDS ${HEDDLE_DEVICE_RUNTIME})
endfunction()
