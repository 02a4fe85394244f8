# The toolchain of .ci/portable, for the machine $RLOCK_MACHINE. CMake finds only libraries that .ci/portable has built, and none
# of the machine that builds.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $ENV{RLOCK_MACHINE})
set(deps $ENV{RLOCK_DEPS})
if(NOT deps)
  set(deps ${CMAKE_CURRENT_LIST_DIR}/../../.deps)
endif()
set(CMAKE_CXX_COMPILER ${deps}/zig/bin/zig-c++-$ENV{RLOCK_MACHINE})
set(CMAKE_AR ${deps}/zig/bin/zig-ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${deps}/zig/bin/zig-ranlib CACHE FILEPATH "")
set(CMAKE_CXX_COMPILER_AR ${CMAKE_AR} CACHE FILEPATH "")
set(CMAKE_CXX_COMPILER_RANLIB ${CMAKE_RANLIB} CACHE FILEPATH "")
set(RLOCK_PORTABLE ON)  # static with its libc
set(CMAKE_FIND_ROOT_PATH ${deps}/portable/$ENV{RLOCK_MACHINE})
foreach(kind IN ITEMS PACKAGE INCLUDE LIBRARY)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
