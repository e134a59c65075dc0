# Meshes of solids and surfaces as files: their readers, and writers of what is computed on them.
file(GLOB mesh_sources CONFIGURE_DEPENDS apps/mesh/*.cpp)
add_library(heddle_mesh STATIC ${mesh_sources})
target_include_directories(heddle_mesh PUBLIC apps/mesh)
target_link_libraries(heddle_mesh PUBLIC heddle
  PRIVATE ZLIB::ZLIB PkgConfig::assimp PkgConfig::tinyobjloader_double)
# tinyobjloader is packaged for each scalar; its header has to be told which one it is.
target_compile_definitions(heddle_mesh PRIVATE TINYOBJLOADER_USE_DOUBLE)
heddle_compiler_options(heddle_mesh)
