# `heddle-spin` and its parts.
file(GLOB spin_sources CONFIGURE_DEPENDS apps/spin/*.cpp)
list(REMOVE_ITEM spin_sources ${PROJECT_SOURCE_DIR}/apps/spin/main.cpp)
if(HEDDLE_SANITIZE_SOME)  # only the readers of files, for fuzzers
  list(FILTER spin_sources INCLUDE REGEX "_image\\.cpp$")
endif()
add_library(heddle_spin STATIC ${spin_sources})
target_include_directories(heddle_spin PUBLIC apps/spin)
target_link_libraries(heddle_spin
  PUBLIC heddle heddle_command heddle_mesh nlohmann_json::nlohmann_json PRIVATE Eigen3::Eigen PNG::PNG ZLIB::ZLIB)
heddle_compiler_options(heddle_spin)
heddle_check_quickly(heddle_spin)

if(NOT HEDDLE_SANITIZE_SOME)
  add_executable(heddle_spin_program apps/spin/main.cpp)
  set_target_properties(heddle_spin_program PROPERTIES OUTPUT_NAME heddle-spin)
  target_link_libraries(heddle_spin_program PRIVATE heddle_spin)
  heddle_compiler_options(heddle_spin_program)
  heddle_check_quickly(heddle_spin_program)
endif()
