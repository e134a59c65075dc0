# The headers that most files include take longer to read than most files take to compile: if this is
# on, as in the presets of .ci/run, they are read once. Each file still includes what it needs, and a
# build without this, as in scripts/deep-check, verifies it. With ccache it stays off: ccache sees only
# that precompiled headers differ, so that it cannot reuse results from another folder.
option(HEDDLE_PRECOMPILE_HEADERS "Compile the headers that most files include once for all of them" OFF)

# heddle_precompile(target header...)
function(heddle_precompile target)
  if(HEDDLE_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    heddle_precompiled_options(${target})
  endif()
endfunction()

# heddle_precompile_as(target other): uses the headers that `other` has compiled.
function(heddle_precompile_as target other)
  if(HEDDLE_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${other})
    heddle_precompiled_options(${target})
  endif()
endfunction()

# With precompiled headers, g++ 12 reports overflows in copies within std::string where there are none.
function(heddle_precompiled_options target)
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow>>
    $<$<CXX_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds>>)
endfunction()
