# heddle_compiler_options(target): the language, warnings and sanitizers of a target of this
# project. Nothing here depends on the processor of the build machine: wider instructions are chosen
# at run time.
function(heddle_compiler_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  # g++ 12 reports overlapping copies in std::string where there are none; its std::stable_sort,
  # under clang, warns of a function that it calls itself.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
    $<$<CXX_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>>
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
  # g++ takes all files that are compiled together for headers, whose types other files could see.
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
    # `address` also stops the program at a use of a null pointer, and of memory outside objects.
    # Checking for these twice takes half of the time that the library's methods take to compile.
    if("address" IN_LIST HEDDLE_SANITIZE AND "undefined" IN_LIST HEDDLE_SANITIZE)
      target_compile_options(${target} PUBLIC
        -fno-sanitize=null,object-size,pointer-overflow)
    endif()
    # With instrumentation, g++ 12 reports that std::regex reads unset values; GCC's manual warns of
    # that.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(${target} PUBLIC -fsanitize=${sanitizers})
    target_compile_definitions(${target} PUBLIC HEDDLE_ASSERTIONS=1)
    # In tests and programs, code of other projects is not instrumented; the library is instrumented
    # with everything it includes.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND NOT target STREQUAL heddle)
      target_compile_options(${target} PRIVATE
        -fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/sanitizer_ignorelist.txt)
    endif()
  endif()
endfunction()

# heddle_compile_quickly(target [EXCEPT source...] | [ONLY source...]): for code in which -O2 and -O3
# would not save time in a release; compiles in a third less time. In builds that only check, it is not
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
    # g++ 12 crashes when -O3 is used with a header that was precompiled with less.
    set_property(SOURCE ${arg_EXCEPT} TARGET_DIRECTORY ${target} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
    string(REGEX MATCH "-O[^ ]*" full "${CMAKE_CXX_FLAGS_RELEASE}")
    set_property(SOURCE ${arg_EXCEPT} TARGET_DIRECTORY ${target} APPEND PROPERTY
      COMPILE_OPTIONS $<${release}:${full}>)
  endif()
endfunction()

# heddle_check_quickly(target [EXCEPT source...] | [ONLY source...]): halves the time to compile a release
# that is only checked. The second option fuses products into additions as at -O2. There g++ knows less
# about variables that may be unset, so that this is no error.
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
