# The commit that a run reports: determined at every build, written if it has changed.
add_custom_target(heddle_commit
  COMMAND ${CMAKE_COMMAND} -D source_folder=${PROJECT_SOURCE_DIR}
    -D header=${PROJECT_BINARY_DIR}/commit/heddle_commit.hpp -P ${PROJECT_SOURCE_DIR}/cmake/commit.cmake
  BYPRODUCTS ${PROJECT_BINARY_DIR}/commit/heddle_commit.hpp
  COMMENT "")

# Parts that the programs share: options of device, plan and profile, exit statuses, paths of
# outputs.
file(GLOB command_sources CONFIGURE_DEPENDS apps/command/*.cpp)
add_library(heddle_command STATIC ${command_sources})
target_include_directories(heddle_command PUBLIC apps/command src)
target_link_libraries(heddle_command PUBLIC heddle CLI11::CLI11 nlohmann_json::nlohmann_json)
add_dependencies(heddle_command heddle_commit)
target_include_directories(heddle_command PRIVATE ${PROJECT_BINARY_DIR}/commit)
heddle_compiler_options(heddle_command)
heddle_compile_quickly(heddle_command)
heddle_precompile(heddle_command <CLI/CLI.hpp> <nlohmann/json.hpp> <heddle/heddle.hpp>)
