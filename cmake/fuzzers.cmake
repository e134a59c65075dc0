# Each tests/fuzz/<name>_fuzz.cpp is a libFuzzer executable. The library itself must be built with
# -DHEDDLE_SANITIZE="fuzzer-no-link;address;undefined", as the preset `fuzz` does.
file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/*_fuzz.cpp)
foreach(source ${fuzz_sources})
  cmake_path(GET source STEM name)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE heddle ZLIB::ZLIB)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  heddle_compiler_options(${name})
endforeach()
