# Programs of examples/ in which MFEM and deal.II call Heddle, where CMake finds these packages. They are
# C++17, as deal.II's own flags say, and use the headers of include/heddle/adapters/.
set(heddle_host_examples_folder ${CMAKE_CURRENT_LIST_DIR}/../examples)

function(heddle_host_example name)
  add_executable(example_${name} ${heddle_host_examples_folder}/${name}.cpp)
  target_link_libraries(example_${name} heddle::c)  # without PRIVATE, as deal_ii_setup_target does it
  set_target_properties(example_${name} PROPERTIES CXX_STANDARD 17 CXX_EXTENSIONS OFF)
  target_compile_options(example_${name} PRIVATE -Wall -Wextra
    $<$<BOOL:${HEDDLE_WARNINGS_AS_ERRORS}>:-Werror>)
  add_test(NAME examples.${name} COMMAND example_${name})
  set_tests_properties(examples.${name} PROPERTIES LABELS examples TIMEOUT 600)
endfunction()

find_package(MFEM QUIET)
if(TARGET mfem)
  heddle_host_example(mfem_beam)
  target_link_libraries(example_mfem_beam mfem)
endif()
find_package(deal.II QUIET)
if(deal.II_FOUND)
  heddle_host_example(dealii_plate)
  deal_ii_setup_target(example_dealii_plate)
endif()
