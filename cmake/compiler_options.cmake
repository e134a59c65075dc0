# heddle_compiler_options(target): the language, warnings and sanitizers of one of our own targets.
# Nothing here depends on the processor of the build machine: wider instructions are chosen at run
# time.
function(heddle_compiler_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  # g++ 12 sees overlapping copies in std::string where there are none; its std::stable_sort, under
  # clang, warns of what it calls itself.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
    $<$<CXX_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>>
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
  # Of files that are compiled together, g++ takes all for headers, whose types others could see.
  if(CMAKE_UNITY_BUILD)
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>>)
  endif()
  if(HEDDLE_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE
      $<IF:$<COMPILE_LANGUAGE:CUDA>,-Werror=all-warnings,-Werror>)
  endif()
  if(HEDDLE_SANITIZE)
    list(JOIN HEDDLE_SANITIZE "," sanitizers)
    target_compile_options(${target} PUBLIC
      -fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    # A use of a null pointer, and of what lies outside objects, stops the program by `address` as
    # well. To look for it twice takes half of the time that the library's methods take to compile.
    if("address" IN_LIST HEDDLE_SANITIZE AND "undefined" IN_LIST HEDDLE_SANITIZE)
      target_compile_options(${target} PUBLIC
        -fno-sanitize=null,object-size,pointer-overflow)
    endif()
    # Instrumented, g++ 12 finds std::regex reading what it has not set; GCC's manual warns of that.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(${target} PUBLIC -fsanitize=${sanitizers})
    target_compile_definitions(${target} PUBLIC HEDDLE_ASSERTIONS=1)
    # Of tests and programs, without the code of others; the library is instrumented with all that it
    # includes.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND NOT target STREQUAL heddle)
      target_compile_options(${target} PRIVATE
        -fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/sanitizer_ignorelist.txt)
    endif()
  endif()
endfunction()

# heddle_compile_quickly(target [EXCEPT source...] | [ONLY source...]): where nothing of a release takes
# the time that -O2 and -O3 could save, a third less to compile. Where all is only checked, they are not
# optimised at all.
function(heddle_compile_quickly target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT;ONLY")
  set(release $<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>)
  if(arg_ONLY)
    set_property(SOURCE ${arg_ONLY} TARGET_DIRECTORY ${target} APPEND PROPERTY
      COMPILE_OPTIONS $<${release}:-O1>)
    return()
  endif()
  target_compile_options(${target} PRIVATE $<${release}:-O1>)
  if(HEDDLE_SANITIZE OR HEDDLE_QUICK_CHECK)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
  elseif(arg_EXCEPT)
    # g++ 12 breaks down where -O3 meets a header that was precompiled with less.
    set_property(SOURCE ${arg_EXCEPT} TARGET_DIRECTORY ${target} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
    string(REGEX MATCH "-O[^ ]*" full "${CMAKE_CXX_FLAGS_RELEASE}")
    set_property(SOURCE ${arg_EXCEPT} TARGET_DIRECTORY ${target} APPEND PROPERTY
      COMPILE_OPTIONS $<${release}:${full}>)
  endif()
endfunction()

# heddle_check_quickly(target [EXCEPT source...] | [ONLY source...]): where a release is only checked, half
# the time to compile. By the second option products are fused into additions as at -O2. Of what may be
# unset g++ knows less there, so that is no error.
function(heddle_check_quickly target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT;ONLY")
  if(NOT HEDDLE_QUICK_CHECK OR HEDDLE_SANITIZE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  set(release $<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>)
  set(quick $<${release}:-O1> $<${release}:-fexpensive-optimizations>
    $<${release}:-Wno-error=maybe-uninitialized>)
  if(arg_ONLY)
    set_property(SOURCE ${arg_ONLY} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS ${quick})
    return()
  endif()
  target_compile_options(${target} PRIVATE ${quick})
  if(arg_EXCEPT)
    set_property(SOURCE ${arg_EXCEPT} TARGET_DIRECTORY ${target} APPEND PROPERTY
      COMPILE_OPTIONS $<${release}:-O3>)
  endif()
endfunction()
