# What files of tests and programs include anyway takes longer to read than most of them to compile:
# where this is on, as in the presets of .ci/run, it is read once. The library's own files include
# what they need one by one in every build. With ccache it stays off: of precompiled headers ccache
# sees only that they are others, so that what another folder compiled is of no use.
option(HEDDLE_PRECOMPILE_HEADERS "Compile headers of tests and programs once for all their files" OFF)

# heddle_precompile(target header...)
function(heddle_precompile target)
  if(HEDDLE_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    heddle_precompiled_options(${target})
  endif()
endfunction()

# Of std::string in precompiled headers g++ 12 says that its copies overflow, where none do.
function(heddle_precompiled_options target)
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow>>)
endfunction()
