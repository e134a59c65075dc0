# A C++17 compiler gets one clear line from every header: the error of heddle/export.hpp, which ends
# the compilation. Run as a script with `compiler` and `source_folder`.
set(include ${source_folder}/include)
file(GLOB headers ${include}/heddle/*.hpp ${include}/heddle/detail/*.hpp
  ${include}/heddle/runtime/*.hpp ${include}/heddle/tools/*.hpp ${include}/heddle/tuning/*.hpp)
foreach(header IN LISTS headers)
  # A header that includes no other would not reach export.hpp; the excepted ones are C++17
  # themselves.
  file(STRINGS ${header} includes REGEX "^#include \"heddle/")
  if(NOT includes AND NOT header MATCHES "/(assert|export|random_field).hpp$")
    message(FATAL_ERROR "${header} includes nothing that refuses C++17")
  endif()
endforeach()
foreach(header array entries error field plan)
  execute_process(COMMAND ${compiler} -std=c++17 -fsyntax-only -I ${include} -x c++
    ${include}/heddle/${header}.hpp RESULT_VARIABLE status ERROR_VARIABLE output)
  string(REGEX MATCHALL "error:[^\n]*" errors "${output}")
  list(LENGTH errors count)
  if(status EQUAL 0 OR NOT count EQUAL 2 OR NOT errors MATCHES "heddle needs C\\+\\+20")
    message(FATAL_ERROR "heddle/${header}.hpp as C++17: ${output}")
  endif()
endforeach()
