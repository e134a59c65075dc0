# Writes `header` with the commit of `source_folder`, followed by "+" if tracked files have changed
# since; empty without git.
set(commit "")
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short HEAD
    WORKING_DIRECTORY ${source_folder} OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(commit "")
  else()
    execute_process(COMMAND ${GIT_EXECUTABLE} status --porcelain --untracked-files=no
      WORKING_DIRECTORY ${source_folder} OUTPUT_VARIABLE changed ERROR_QUIET)
    if(changed)
      string(APPEND commit "+")
    endif()
  endif()
endif()
set(text "// Written by cmake/commit.cmake at every build.
#pragma once

namespace heddle::cli {

inline constexpr const char* built_commit = \"${commit}\";

}  // namespace heddle::cli
")
set(before "")
if(EXISTS ${header})
  file(READ ${header} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${header} "${text}")
endif()
