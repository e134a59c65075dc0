# heddle_unite(list folder [ROOMS names] [NAME name] [ONLY regex] [EXCEPT regex]): in a build that
# compiles files together, joins files of a library folder and its rooms, or of these rooms alone, that
# match `ONLY` into a few. `EXCEPT` leaves out files with names of helpers that another file has too, with
# options of their own, or with loops that take long alone; `full_sources` are left out as well. The
# folder's name stays in the path, by which files get options.
function(heddle_unite list folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "ROOMS;NAME;ONLY;EXCEPT" "")
  if(NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  set(members ${${list}})
  set(rooms "([a-z_]+/)?")
  if(arg_ROOMS)
    set(rooms "(${arg_ROOMS})/")
  endif()
  list(FILTER members INCLUDE REGEX "/${folder}/${rooms}[^/]*(${arg_ONLY})[^/]*\\.cpp$")
  list(FILTER members EXCLUDE REGEX "/[^/]*(_cuda${arg_EXCEPT})[^/]*\\.cpp$")
  list(REMOVE_ITEM members ${full_sources})
  list(REMOVE_ITEM ${list} ${members})
  # Equal numbers in each batch, and at most 16.
  list(LENGTH members count)
  math(EXPR batches "(${count} + 15) / 16")
  foreach(batch RANGE 1 ${batches})
    math(EXPR begin "(${batch} - 1) * ${count} / ${batches}")
    math(EXPR length "${batch} * ${count} / ${batches} - ${begin}")
    list(SUBLIST members ${begin} ${length} files)
    list(TRANSFORM files REPLACE "(.+)" "#include \"\\1\"")
    list(JOIN files "\n" text)
    set(unit ${PROJECT_BINARY_DIR}/${folder}/Unity/${arg_NAME}all_${batch}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "${text}\n")
    list(APPEND ${list} ${unit})
  endforeach()
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()
