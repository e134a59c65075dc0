# heddle_unite(list folder EXCEPT regex): in a build that compiles files together, those of one of the
# library's folders are one file, but for what the regex finds: names of helpers that two files share,
# files with options of their own. The folder's name stays in the path, by which files get options.
function(heddle_unite list folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "EXCEPT" "")
  if(NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  set(members ${${list}})
  list(FILTER members INCLUDE REGEX "/${folder}/[^/]*\\.cpp$")
  list(FILTER members EXCLUDE REGEX "/[^/]*(${arg_EXCEPT}|_cuda)[^/]*\\.cpp$")
  list(TRANSFORM members REPLACE "(.+)" "#include \"\\1\"" OUTPUT_VARIABLE lines)
  list(JOIN lines "\n" text)
  set(unit ${PROJECT_BINARY_DIR}/${folder}/Unity/all.cpp)
  file(CONFIGURE OUTPUT ${unit} CONTENT "${text}\n")
  list(REMOVE_ITEM ${list} ${members})
  list(APPEND ${list} ${unit})
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()
