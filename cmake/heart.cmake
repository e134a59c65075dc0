# `heddle-heart` and its parts. Its passes are compiled by nvcc if there is CUDA, else as C++.
file(GLOB heart_sources CONFIGURE_DEPENDS
  apps/heart/*.cpp apps/heart/*.cu apps/heart/newton/*.cpp apps/heart/newton/*.cu apps/heart/run/*.cpp
  apps/heart/membranes/*.cpp apps/heart/membranes/*.cu)
list(REMOVE_ITEM heart_sources ${PROJECT_SOURCE_DIR}/apps/heart/main.cpp)
if(NOT HEDDLE_HAS_CUDA)
  list(FILTER heart_sources EXCLUDE REGEX "_cuda\\.(cpp|cu)$")
  set(heart_passes ${heart_sources})
  list(FILTER heart_passes INCLUDE REGEX "\\.cu$")
  set_source_files_properties(${heart_passes} PROPERTIES LANGUAGE CXX)
else()
  heddle_unite_cuda(heart_sources)
endif()
set(lane_options -fno-math-errno)
if(HEDDLE_SANITIZE MATCHES undefined)  # checks for thousands of operands take a minute and a half to compile
  list(APPEND lane_options -fno-sanitize=undefined)
endif()
# Square roots of lanes are one instruction if none of them may set errno. These files use other
# instructions than the files that a unity build would join them with.
set(lane_sources
  apps/heart/membranes/advance_cells_baseline.cpp apps/heart/membranes/advance_cells_avx2.cpp)
set_source_files_properties(${lane_sources}
  PROPERTIES COMPILE_OPTIONS "${lane_options}" SKIP_UNITY_BUILD_INCLUSION ON)
add_library(heddle_heart STATIC ${heart_sources})
target_include_directories(heddle_heart PUBLIC apps/heart apps/heart/membranes)
target_link_libraries(heddle_heart PUBLIC heddle_simulation)
heddle_compiler_options(heddle_heart)
heddle_check_quickly(heddle_heart EXCEPT ${lane_sources})
if(HEDDLE_HAS_CUDA)
  target_include_directories(heddle_heart SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  heddle_link_cuda(heddle_heart)
endif()

if(EXISTS ${PROJECT_SOURCE_DIR}/apps/heart/main.cpp)
  add_executable(heddle_heart_program apps/heart/main.cpp)
  set_target_properties(heddle_heart_program PROPERTIES OUTPUT_NAME heddle-heart)
  target_link_libraries(heddle_heart_program PRIVATE heddle_heart)
  heddle_compiler_options(heddle_heart_program)
  heddle_check_quickly(heddle_heart_program)
endif()

# Newton's scheme over PETSc, for scripts/newton-benchmark.
heddle_petsc_program(heddle_petsc_newton apps/heart/peers/petsc_newton.cpp heddle_heart)
