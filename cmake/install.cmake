# `cmake --install`, `find_package(heddle)` and `pkg-config heddle`.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)

install(TARGETS ${heddle_package_library} EXPORT heddle_targets)
foreach(program heddle_cli heddle_tune_program heddle_bench_program
    heddle_spin_program heddle_elastic_program heddle_heart_program heddle_petsc_peer
    heddle_mpi_program)
  if(NOT TARGET ${program})
    continue()
  endif()
  install(TARGETS ${program})
  if(program MATCHES "petsc")
    continue()
  endif()
  # Shells look for files that are named like the program.
  get_target_property(name ${program} OUTPUT_NAME)
  install(FILES data/completions/heddle.bash RENAME ${name}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES data/completions/heddle.fish RENAME ${name}.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  # The man page, which the program writes itself; there is none if the program does not run, or
  # needs MPI.
  if(CMAKE_CROSSCOMPILING OR program MATCHES "mpi")
    continue()
  endif()
  set(page ${PROJECT_BINARY_DIR}/man1/${name}.1)
  install(CODE "file(MAKE_DIRECTORY \"${PROJECT_BINARY_DIR}/man1\")
    execute_process(COMMAND \"$<TARGET_FILE:${program}>\" --manual
      OUTPUT_FILE \"${page}\" RESULT_VARIABLE failed)
    if(failed)
      file(REMOVE \"${page}\")
    endif()")
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
endforeach()
if(TARGET heddle_cli)
  install(FILES data/completions/_heddle DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
install(DIRECTORY include/heddle ${PROJECT_BINARY_DIR}/include/heddle
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY data/profiles DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle
  FILES_MATCHING PATTERN "*.json")
# The same layout as in the source tree, so that links between the documents work.
set(documentation_folder ${CMAKE_INSTALL_DATADIR}/doc/heddle)
install(FILES README.md DESTINATION ${documentation_folder})
install(DIRECTORY docs DESTINATION ${documentation_folder} PATTERN Doxyfile EXCLUDE)
install(DIRECTORY examples DESTINATION ${documentation_folder} PATTERN __pycache__ EXCLUDE)
if(NOT HEDDLE_SANITIZE)
  install(TARGETS heddle_c EXPORT heddle_c_targets)
  install(FILES include/heddle.h include/heddle_edits.h include/heddle_eigen.h
    include/heddle_methods.h include/heddle_ranks.h include/heddle_stream_order.h
    include/heddle_tuning.h examples/fortran/heddle.f90
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT heddle_c_targets FILE heddle-c-targets.cmake NAMESPACE heddle::
    DESTINATION ${package_folder})
endif()
if(TARGET heddle_mpi)
  install(TARGETS heddle_mpi EXPORT heddle_mpi_targets)
  install(DIRECTORY mpi/heddle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
  install(EXPORT heddle_mpi_targets FILE heddle-mpi-targets.cmake NAMESPACE heddle::
    DESTINATION ${package_folder})
endif()
install(EXPORT heddle_targets FILE heddle-targets.cmake NAMESPACE heddle::
  DESTINATION ${package_folder})

get_target_property(library_type ${heddle_package_library} TYPE)
configure_package_config_file(cmake/heddle-config.cmake.in cmake/heddle-config.cmake
  INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(cmake/heddle-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  cmake/embed_entry.cmake
  ${PROJECT_BINARY_DIR}/cmake/heddle-config.cmake
  ${PROJECT_BINARY_DIR}/cmake/heddle-config-version.cmake
  DESTINATION ${package_folder})

# A program that links a static libheddle also links the libraries that it hides. Paths are relative
# to the file, so that an installation may move.
set(pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_prefix /prefix/${pc_folder} /prefix)
set(pc_private .private)
set(pc_definitions "")
set(pc_libraries "")
if(library_type STREQUAL STATIC_LIBRARY)
  set(pc_private "")
  set(pc_definitions " -DHEDDLE_STATIC")
  set(pc_libraries " -ldl")
  if(HEDDLE_HAS_CUDA)
    get_target_property(cudart CUDA::cudart_static IMPORTED_LOCATION)
    set(pc_libraries " ${cudart} -lrt -ldl")
  endif()
  if(HEDDLE_HAS_METIS)
    string(APPEND pc_libraries " ${HEDDLE_METIS_LIBRARY}")
  endif()
  if(HEDDLE_HAS_SCOTCH)
    string(APPEND pc_libraries " ${HEDDLE_SCOTCH_LIBRARY} ${HEDDLE_SCOTCH_ERROR_LIBRARY}")
  endif()
endif()
configure_file(cmake/heddle.pc.in cmake/heddle.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/heddle.pc DESTINATION ${pc_folder})
configure_file(cmake/heddle-c.pc.in cmake/heddle-c.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/heddle-c.pc DESTINATION ${pc_folder})
