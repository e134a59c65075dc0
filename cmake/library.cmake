# The build of `heddle`, which other projects get as heddle::heddle.
#
# `heddle` is always static: tests and the project's own programs link it, also where they use src/.
# With BUILD_SHARED_LIBS its objects also make a shared library, which then is heddle::heddle and is
# installed: it exports only what heddle/export.hpp marks.

# The static library may become part of other projects' shared libraries, so its code is
# position-independent.
if(NOT DEFINED CMAKE_POSITION_INDEPENDENT_CODE)
  set_target_properties(heddle PROPERTIES POSITION_INDEPENDENT_CODE ON)
endif()
set_target_properties(heddle PROPERTIES
  CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
# No name of the library is replaced at run time, so that its functions may be inlined.
target_compile_options(heddle PRIVATE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-fno-semantic-interposition>)
# CMake 3.25 leaves out the flag of cxx_std_20 where nvcc compiles.
target_compile_options(heddle INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)

set(heddle_package_library heddle)
if(BUILD_SHARED_LIBS)
  set(heddle_package_library heddle_shared)
  add_library(heddle_shared SHARED $<TARGET_OBJECTS:heddle>)
  get_target_property(libraries heddle LINK_LIBRARIES)
  target_link_libraries(heddle_shared PRIVATE ${libraries})
  foreach(property LINK_LIBRARIES INCLUDE_DIRECTORIES COMPILE_OPTIONS)
    get_target_property(values heddle INTERFACE_${property})
    list(FILTER values EXCLUDE REGEX "LINK_ONLY")
    set_property(TARGET heddle_shared PROPERTY INTERFACE_${property} ${values})
  endforeach()
  target_compile_features(heddle_shared INTERFACE cxx_std_20)
  set_target_properties(heddle_shared PROPERTIES OUTPUT_NAME heddle EXPORT_NAME heddle
    LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
else()
  target_compile_definitions(heddle PUBLIC HEDDLE_STATIC)
endif()
add_library(heddle::heddle ALIAS ${heddle_package_library})
