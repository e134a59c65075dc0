# What files of tests and programs include anyway takes longer to read than most of them to compile:
# where this is on, as in the presets of .ci/run, it is read once. The library's own files include
# what they need one by one in every build. With ccache it stays off: of precompiled headers ccache
# sees only that they are others, so that what another folder compiled is of no use.
option(HEDDLE_PRECOMPILE_HEADERS "Compile headers of tests and programs once for all their files" OFF)

# heddle_precompile(target header...)
function(heddle_precompile target)
  if(HEDDLE_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    # Of precompiled headers, g++ 12 also sees copies of impossible length in std::string.
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-error=stringop-overflow>)
  endif()
endfunction()
