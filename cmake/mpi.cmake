# heddle_mpi, which other projects get as heddle::mpi: ranks that are processes of MPI, if it is
# found.
option(HEDDLE_MPI "Build heddle_mpi and heddle-mpi where MPI is found" ON)
if(HEDDLE_MPI)
  find_package(MPI QUIET COMPONENTS CXX)
endif()
if(HEDDLE_MPI AND MPI_CXX_FOUND)
  add_library(heddle_mpi STATIC mpi/mpi_communicator.cpp)
  # It needs only headers of heddle: a program that links it also links heddle, static or shared.
  target_include_directories(heddle_mpi PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/mpi>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # Only the C interface: MPI has removed that of C++.
  target_compile_definitions(heddle_mpi PUBLIC OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_compile_features(heddle_mpi PUBLIC cxx_std_20)
  target_link_libraries(heddle_mpi PUBLIC MPI::MPI_CXX $<INSTALL_INTERFACE:heddle::heddle>)
  heddle_compiler_options(heddle_mpi)
  set_target_properties(heddle_mpi PROPERTIES EXPORT_NAME mpi)
  # A target that links it by this name in this build gets heddle with it, as from a package.
  add_library(heddle_mpi_and_heddle INTERFACE)
  target_link_libraries(heddle_mpi_and_heddle INTERFACE heddle_mpi heddle::heddle)
  add_library(heddle::mpi ALIAS heddle_mpi_and_heddle)
endif()
