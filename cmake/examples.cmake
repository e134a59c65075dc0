# Short programs that use the library, in examples/; tests run them.
file(GLOB example_sources CONFIGURE_DEPENDS examples/*.cpp)
list(FILTER example_sources EXCLUDE REGEX "/(mfem_beam|dealii_plate)\\.cpp$")  # see host_examples.cmake
foreach(source ${example_sources})
  cmake_path(GET source STEM name)
  if(name STREQUAL "eigen_user" AND NOT Eigen3_FOUND)
    find_package(Eigen3 QUIET NO_MODULE)
    if(NOT Eigen3_FOUND)
      continue()
    endif()
  endif()
  add_executable(example_${name} ${source})
  target_link_libraries(example_${name} PRIVATE heddle::heddle)
  if(name STREQUAL "eigen_user")
    target_link_libraries(example_${name} PRIVATE Eigen3::Eigen)
  endif()
  if(name STREQUAL "own_method")
    heddle_embed_entry(example_${name} examples/steepest_descent.hpp)
  endif()
  if(name STREQUAL "own_element")
    heddle_embed_entry(example_${name} examples/conduction.hpp)
  endif()
  heddle_compiler_options(example_${name})
  target_compile_options(example_${name} PRIVATE -O1)
  if(HEDDLE_BUILD_TESTS)
    set(arguments "")
    if(name STREQUAL "quick_start")
      set(arguments ${PROJECT_SOURCE_DIR}/data/dirac-sphere.mtx.gz)
    endif()
    add_test(NAME examples.${name} COMMAND example_${name} ${arguments})
    set_tests_properties(examples.${name} PROPERTIES LABELS examples TIMEOUT 600)
  endif()
endforeach()
if(HEDDLE_BUILD_TESTS)
  add_test(NAME examples.readme_shows_quick_start
    COMMAND ${CMAKE_COMMAND} -D readme=${PROJECT_SOURCE_DIR}/README.md
      -D program=${PROJECT_SOURCE_DIR}/examples/quick_start.cpp
      -P ${PROJECT_SOURCE_DIR}/examples/readme_shows.cmake)
  add_test(NAME examples.doors_shows_programs
    COMMAND ${CMAKE_COMMAND} -D page=${PROJECT_SOURCE_DIR}/docs/guide/doors.md
      "-Dprograms=${PROJECT_SOURCE_DIR}/examples/mfem_beam.cpp;${PROJECT_SOURCE_DIR}/examples/dealii_plate.cpp"
      -P ${PROJECT_SOURCE_DIR}/examples/page_shows.cmake)
  set_tests_properties(examples.readme_shows_quick_start examples.doors_shows_programs
    PROPERTIES LABELS examples)
endif()

if(NOT HEDDLE_SANITIZE)
  include(cmake/host_examples.cmake)
endif()

# Examples in C, Fortran and Julia, if these are available; a sanitized library only links to
# sanitized programs.
include(CheckLanguage)
set(c_interface_examples "")
if(NOT HEDDLE_SANITIZE)
  check_language(C)
  if(CMAKE_C_COMPILER)
    enable_language(C)
    add_executable(example_c_quick_start examples/c/quick_start.c)
    set_target_properties(example_c_quick_start PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
    target_compile_options(example_c_quick_start PRIVATE -Wall -Wextra -pedantic -Werror)
    list(APPEND c_interface_examples example_c_quick_start)
  endif()
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
    add_executable(example_fortran_quick_start
      examples/fortran/heddle.f90 examples/fortran/quick_start.f90)
    set_target_properties(example_fortran_quick_start PROPERTIES
      Fortran_MODULE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fortran)
    target_compile_options(example_fortran_quick_start PRIVATE -Wall)
    list(APPEND c_interface_examples example_fortran_quick_start)
  endif()
endif()
set(programs "")
foreach(example ${c_interface_examples})
  target_link_libraries(${example} PRIVATE heddle::c)
  list(APPEND programs $<TARGET_FILE:${example}>)
endforeach()
if(HEDDLE_BUILD_TESTS AND programs)
  # Debian 12 has no Julia.
  find_program(HEDDLE_JULIA julia)
  if(HEDDLE_JULIA)
    list(APPEND programs ${HEDDLE_JULIA})
  endif()
  add_test(NAME examples.c_and_fortran
    COMMAND ${CMAKE_COMMAND} -E env HEDDLE_LIBRARY=$<TARGET_FILE:heddle_c>
      ${CMAKE_COMMAND} "-Dprograms=${programs}"
      -D julia_script=${PROJECT_SOURCE_DIR}/examples/julia/quick_start.jl
      -D matrix=${PROJECT_SOURCE_DIR}/data/dirac-sphere.mtx.gz
      -P ${PROJECT_SOURCE_DIR}/tests/c/examples_print_the_same.cmake)
  set_tests_properties(examples.c_and_fortran PROPERTIES LABELS examples)
endif()
