# `cmake --install` and `find_package(heddle)`.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)

install(TARGETS heddle EXPORT heddle_targets)
foreach(program heddle_cli heddle_tune_program heddle_bench_program
    heddle_spin_program heddle_elastic_program heddle_petsc_peer)
  if(TARGET ${program})
    install(TARGETS ${program})
  endif()
endforeach()
install(DIRECTORY include/heddle ${PROJECT_BINARY_DIR}/include/heddle
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY data/profiles DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle
  FILES_MATCHING PATTERN "*.json")
install(EXPORT heddle_targets FILE heddle-targets.cmake NAMESPACE heddle::
  DESTINATION ${package_folder})

get_target_property(library_type heddle TYPE)
configure_package_config_file(cmake/heddle-config.cmake.in cmake/heddle-config.cmake
  INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(cmake/heddle-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  cmake/embed_entry.cmake
  ${PROJECT_BINARY_DIR}/cmake/heddle-config.cmake
  ${PROJECT_BINARY_DIR}/cmake/heddle-config-version.cmake
  DESTINATION ${package_folder})
