# Each tests/fuzz/<name>_fuzz.cpp is a libFuzzer executable; `fuzzers` is all of them. It is guided by
# what is counted in the parts of the library that read.
set(fuzzed_sources ${library_sources})
list(FILTER fuzzed_sources INCLUDE REGEX "/src/(io|matrix)/")
set_property(SOURCE ${fuzzed_sources} APPEND PROPERTY COMPILE_OPTIONS -fsanitize=fuzzer-no-link)

add_custom_target(fuzzers)
file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/*_fuzz.cpp)
foreach(source ${fuzz_sources})
  cmake_path(GET source STEM name)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE heddle ZLIB::ZLIB)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  heddle_compiler_options(${name})
  add_dependencies(fuzzers ${name})
endforeach()
