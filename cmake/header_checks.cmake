# Checks of the public headers by compilers.
add_test(NAME package.headers_refuse_cxx17
  COMMAND ${CMAKE_COMMAND} -D compiler=${CMAKE_CXX_COMPILER} -D source_folder=${PROJECT_SOURCE_DIR}
    -P ${PROJECT_SOURCE_DIR}/tests/package/needs_cxx20.cmake)
set_tests_properties(package.headers_refuse_cxx17 PROPERTIES LABELS package)
