# Partitions by METIS (Debian: libmetis-dev), if it is found.
option(HEDDLE_METIS "Partitions by METIS where it is found" ON)
if(HEDDLE_METIS)
  find_path(HEDDLE_METIS_INCLUDE_DIR metis.h)
  find_library(HEDDLE_METIS_LIBRARY metis)
  mark_as_advanced(HEDDLE_METIS_INCLUDE_DIR HEDDLE_METIS_LIBRARY)
endif()
if(HEDDLE_METIS AND HEDDLE_METIS_INCLUDE_DIR AND HEDDLE_METIS_LIBRARY)
  set(HEDDLE_HAS_METIS true)
  set_source_files_properties(src/distributed/partition/metis_partition.cpp PROPERTIES
    COMPILE_DEFINITIONS HEDDLE_METIS)
  # If /usr/include were named again as a system folder, it would hide headers of the C library from
  # C++.
  if(NOT HEDDLE_METIS_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    set_property(SOURCE src/distributed/partition/metis_partition.cpp PROPERTY
      INCLUDE_DIRECTORIES ${HEDDLE_METIS_INCLUDE_DIR})
  endif()
  target_link_libraries(heddle PRIVATE ${HEDDLE_METIS_LIBRARY})
else()
  set(HEDDLE_HAS_METIS false)
endif()
message(STATUS "heddle: partitions by METIS: ${HEDDLE_HAS_METIS}")
