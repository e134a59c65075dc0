# heddle_embed_entry(target header...): the texts of entry headers become part of `target`, so that
# GPUs can run the entries. HEDDLE_ENTRY(Type, "header.hpp") finds a text by its file's name. Run as
# a script, this file writes the source that registers one.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(heddle_embed_entry target)
    foreach(header IN LISTS ARGN)
      cmake_path(ABSOLUTE_PATH header)
      cmake_path(GET header FILENAME name)
      string(MAKE_C_IDENTIFIER "heddle_entry_${target}_${name}" symbol)
      set(source ${CMAKE_CURRENT_BINARY_DIR}/heddle_entries/${target}/${name}.cpp)
      set(script ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
      add_custom_command(OUTPUT ${source}
        COMMAND ${CMAKE_COMMAND} -D header=${header} -D symbol=${symbol} -D output=${source}
          -P ${script}
        DEPENDS ${header} ${script}
        COMMENT "Embedding entry ${name}"
        VERBATIM)
      target_sources(${target} PRIVATE ${source})
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      # No program refers to the object that registers a text, so that a linker would leave it in a
      # static library: every target that links the library requests it.
      get_target_property(type ${target} TYPE)
      if(type STREQUAL STATIC_LIBRARY)
        target_link_options(${target} INTERFACE LINKER:-u,${symbol})
      endif()
    endforeach()
  endfunction()
  return()
endif()

file(READ ${header} text)
string(FIND "${text}" ")entry\"" end)
if(NOT end EQUAL -1)
  message(FATAL_ERROR "heddle: ${header} holds the mark that ends an embedded text, )entry\"")
endif()
cmake_path(GET header FILENAME name)
file(WRITE ${output} "// Written by heddle_embed_entry.
#include \"heddle/entry_text.hpp\"

extern \"C\" const bool ${symbol};
const bool ${symbol} = heddle::register_entry_header(\"${name}\", R\"entry(${text})entry\");
")
