# heddle_petsc_program(target source library): a program over PETSc, if PETSc and MPI are found; the release runs
# it.
function(heddle_petsc_program target source library)
  find_package(MPI QUIET COMPONENTS CXX)
  pkg_check_modules(petsc QUIET IMPORTED_TARGET petsc)
  if(petsc_FOUND AND MPI_CXX_FOUND AND NOT HEDDLE_SANITIZE_SOME)
    add_executable(${target} ${source})
    target_link_libraries(${target} PRIVATE ${library} PkgConfig::petsc MPI::MPI_CXX)
    heddle_compiler_options(${target})
  endif()
endfunction()
