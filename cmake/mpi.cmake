# heddle_mpi, given to others as heddle::mpi: ranks that are processes of MPI, where that is.
option(HEDDLE_MPI "Build heddle_mpi and heddle-mpi where MPI is found" ON)
if(HEDDLE_MPI)
  find_package(MPI QUIET COMPONENTS CXX)
endif()
if(HEDDLE_MPI AND MPI_CXX_FOUND)
  add_library(heddle_mpi STATIC mpi/mpi_communicator.cpp)
  target_include_directories(heddle_mpi PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/mpi> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # The interface of C alone: that of C++ is gone from MPI.
  target_compile_definitions(heddle_mpi PUBLIC OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_libraries(heddle_mpi PUBLIC ${heddle_package_library} MPI::MPI_CXX)
  heddle_compiler_options(heddle_mpi)
  add_library(heddle::mpi ALIAS heddle_mpi)
endif()
