# heddle.h and libheddle_c: the library for C, which contains all of libheddle and exports nothing
# else. Sanitized programs link it statically, so that they contain libheddle once.
file(GLOB c_sources CONFIGURE_DEPENDS bindings/c/*.cpp)
if(HEDDLE_SANITIZE)
  add_library(heddle_c STATIC ${c_sources})
else()
  add_library(heddle_c SHARED ${c_sources})
  set(symbols ${PROJECT_SOURCE_DIR}/bindings/c/heddle_c.map)
  target_link_options(heddle_c PRIVATE LINKER:--version-script=${symbols}
    LINKER:--exclude-libs,ALL LINKER:--gc-sections LINKER:--as-needed)
  set_target_properties(heddle_c PROPERTIES LINK_DEPENDS ${symbols})
endif()
target_include_directories(heddle_c
  PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  PRIVATE src)
target_link_libraries(heddle_c PRIVATE heddle)
heddle_compiler_options(heddle_c)
heddle_compile_quickly(heddle_c)
set_target_properties(heddle_c PROPERTIES
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} EXPORT_NAME c)
# heddle.h is C99 and C++11, whatever the library is written in.
set_property(TARGET heddle_c PROPERTY INTERFACE_COMPILE_FEATURES "")
add_library(heddle::c ALIAS heddle_c)
