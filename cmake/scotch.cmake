# Partitions by SCOTCH (Debian: libscotch-dev), where that is: a shared library of a licence of its own
# (CeCILL-C).
option(HEDDLE_SCOTCH "Partitions by SCOTCH where it is found" ON)
if(HEDDLE_SCOTCH)
  find_path(HEDDLE_SCOTCH_INCLUDE_DIR scotch.h PATH_SUFFIXES scotch)
  find_library(HEDDLE_SCOTCH_LIBRARY scotch)
  find_library(HEDDLE_SCOTCH_ERROR_LIBRARY scotcherr)
  mark_as_advanced(HEDDLE_SCOTCH_INCLUDE_DIR HEDDLE_SCOTCH_LIBRARY HEDDLE_SCOTCH_ERROR_LIBRARY)
endif()
if(HEDDLE_SCOTCH AND HEDDLE_SCOTCH_INCLUDE_DIR AND HEDDLE_SCOTCH_LIBRARY
    AND HEDDLE_SCOTCH_ERROR_LIBRARY)
  set(HEDDLE_HAS_SCOTCH true)
  set_source_files_properties(src/distributed/scotch_partition.cpp PROPERTIES
    COMPILE_DEFINITIONS HEDDLE_SCOTCH)
  if(NOT HEDDLE_SCOTCH_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    set_property(SOURCE src/distributed/scotch_partition.cpp PROPERTY
      INCLUDE_DIRECTORIES ${HEDDLE_SCOTCH_INCLUDE_DIR})
  endif()
  target_link_libraries(heddle PRIVATE ${HEDDLE_SCOTCH_LIBRARY} ${HEDDLE_SCOTCH_ERROR_LIBRARY})
else()
  set(HEDDLE_HAS_SCOTCH false)
endif()
message(STATUS "heddle: partitions by SCOTCH: ${HEDDLE_HAS_SCOTCH}")
