# precompiled(target): precompiles the headers of libraries that most files include, which saves 40 % of the time of a build. A
# debug build with a compiler cache does not use them, because the cache could not keep files for other folders. `release` always
# does: the compiler makes other bytes with them, and the bytes must not depend on whether there is a compiler cache.
#
# src and cmd use them only with RLOCK_PRECOMPILED. The preset `clang` is without it, so that it finds a missing #include.

function(precompiled target)
  if(RLOCK_HARDENED OR NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} PRIVATE <algorithm> <chrono> <csignal> <functional> <map> <memory> <optional>
      <set> <string> <string_view> <variant> <vector> <fmt/format.h> ${ARGN})
  endif()
endfunction()

if(RLOCK_PORTABLE)  # its compiler does not accept -Xclang -emit-pch
  set(CMAKE_CXX_COMPILE_OPTIONS_CREATE_PCH -Winvalid-pch -include <PCH_HEADER> -x c++-header)
endif()
