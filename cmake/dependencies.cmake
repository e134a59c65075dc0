# The dependencies of heddle, all of them packaged by Debian; scripts/install-dependencies installs
# them.

# Found packages must be visible to a project that adds heddle as a subdirectory.
if(NOT PROJECT_IS_TOP_LEVEL)
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
endif()

# heddle_find(package debian_package purpose [arguments of find_package])
macro(heddle_find package debian_package purpose)
  find_package(${package} QUIET ${ARGN})
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "heddle: ${package} was not found; ${purpose} needs it. "
      "On Debian: apt-get install ${debian_package} (or run scripts/install-dependencies).")
  endif()
endmacro()

heddle_find(Threads libc6-dev "the library")
heddle_find(ZLIB zlib1g-dev "reading .gz files")
heddle_find(Boost libboost-graph-dev "reverse Cuthill-McKee ordering")
heddle_find(Eigen3 libeigen3-dev "the preconditioner direct" NO_MODULE)
heddle_find(nlohmann_json nlohmann-json3-dev "writing reports")
heddle_find(PkgConfig pkg-config "finding libzip")
# Debian's own libzip-config.cmake fails without the package libzip-tools.
pkg_check_modules(libzip QUIET IMPORTED_TARGET GLOBAL libzip)
if(NOT libzip_FOUND)
  message(FATAL_ERROR "heddle: libzip was not found; reading .npz files needs it. "
    "On Debian: apt-get install libzip-dev (or run scripts/install-dependencies).")
endif()
if(HEDDLE_BUILD_APPS)
  heddle_find(CLI11 libcli11-dev "the command line")
  heddle_find(PNG libpng-dev "heddle-spin, heddle-elastic and heddle-heart")
  heddle_find(pugixml libpugixml-dev "reading .vtu files")
endif()
if(HEDDLE_BUILD_TESTS)
  heddle_find(GTest libgtest-dev "testing")
endif()
