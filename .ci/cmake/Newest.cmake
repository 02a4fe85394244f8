# For the preset `clang`: compiles with the headers of Debian 13 that .ci/setup has unpacked (libstdc++, libc, fmt and the
# others), whatever this machine has. It links nothing, because this machine's libraries have other versions.
if(DEFINED ENV{RLOCK_DEPS})
  set(newest $ENV{RLOCK_DEPS}/newest)
else()
  set(newest ${CMAKE_CURRENT_SOURCE_DIR}/.deps/newest)
endif()
file(GLOB gcc ${newest}/usr/lib/gcc/*/*)
if(NOT gcc)
  message(FATAL_ERROR "${newest} is missing: .ci/setup clang")
endif()
message(STATUS "Compiles against ${gcc}")
add_compile_options(--sysroot=${newest} --gcc-install-dir=${gcc})
set(CMAKE_CXX_LINK_EXECUTABLE "<CMAKE_COMMAND> -E touch <TARGET>")
