# heddle_embed_headers(target): gives `target` the table of src/spmv/embedded_headers.hpp, the texts
# that kernels are compiled from at run time. Run as a script, this file writes that table.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(heddle_embed_headers target)
    set(folder ${PROJECT_SOURCE_DIR}/include)
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${folder}
      ${folder}/heddle/export.hpp
      ${folder}/heddle/entries/*.hpp ${folder}/heddle/methods/*.hpp
      ${folder}/heddle/kernels/*.hpp ${folder}/heddle/kernels/*.cuh
      ${folder}/heddle/kernels/trees/*.hpp ${folder}/heddle/kernels/trees/*.cuh)
    list(TRANSFORM headers PREPEND ${folder}/ OUTPUT_VARIABLE paths)
    # The names are on the command line, so that the table is also updated when a header is removed.
    list(JOIN headers "," names)
    set(script ${PROJECT_SOURCE_DIR}/cmake/embed_headers.cmake)
    set(table ${PROJECT_BINARY_DIR}/embedded_headers.cpp)
    add_custom_command(OUTPUT ${table}
      COMMAND ${CMAKE_COMMAND} -D folder=${folder} -D names=${names} -D output=${table} -P ${script}
      DEPENDS ${paths} ${script}
      COMMENT "Embedding the headers of kernels"
      VERBATIM)
    target_sources(${target} PRIVATE ${table})
    set_source_files_properties(${table} PROPERTIES
      INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/src/spmv)
  endfunction()
  return()
endif()

string(REPLACE "," ";" names "${names}")
set(entries "")
foreach(name IN LISTS names)
  file(READ ${folder}/${name} text)
  string(FIND "${text}" ")embedded\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "heddle: ${name} holds the mark that ends an embedded text")
  endif()
  string(APPEND entries "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
file(WRITE ${output} "// Written by cmake/embed_headers.cmake.
#include \"embedded_headers.hpp\"

namespace heddle::cuda {

namespace {
constexpr EmbeddedHeader headers[] = {
${entries}};
}  // namespace

std::span<const EmbeddedHeader> embedded_headers() { return headers; }

}  // namespace heddle::cuda
")
