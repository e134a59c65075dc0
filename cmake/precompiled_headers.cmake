# What most files include anyway takes longer to read than most of them to compile: where this is on,
# as in the presets of .ci/run, it is read once. Each file still includes what it needs: a build
# without this, as scripts/deep-check makes, holds it to that. With ccache it stays off: of precompiled
# headers ccache sees only that they are others, so that what another folder compiled is of no use.
option(HEDDLE_PRECOMPILE_HEADERS "Compile the headers that most files include once for all of them" OFF)

# heddle_precompile(target header...)
function(heddle_precompile target)
  if(HEDDLE_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    heddle_precompiled_options(${target})
  endif()
endfunction()

# heddle_precompile_as(target other): with the headers that `other` has compiled.
function(heddle_precompile_as target other)
  if(HEDDLE_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${other})
    heddle_precompiled_options(${target})
  endif()
endfunction()

# Of copies within std::string, from precompiled headers, g++ 12 says that they overflow where none do.
function(heddle_precompiled_options target)
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow>>
    $<$<CXX_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds>>)
endfunction()
