# Meshes of solids and surfaces in files: their readers, and the writers and pictures of results on
# them.
file(GLOB mesh_sources CONFIGURE_DEPENDS apps/mesh/*.cpp apps/mesh/read/*.cpp)
add_library(heddle_mesh STATIC ${mesh_sources})
target_include_directories(heddle_mesh PUBLIC apps/mesh)
target_link_libraries(heddle_mesh PUBLIC heddle PRIVATE pugixml::pugixml PNG::PNG ZLIB::ZLIB)
heddle_compiler_options(heddle_mesh)
heddle_check_quickly(heddle_mesh)
