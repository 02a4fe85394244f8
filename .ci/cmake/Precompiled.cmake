# precompiled(target): precompiles the headers of libraries that most files include. Does nothing with a compiler cache, because the
# cache could not keep files that use precompiled headers.
#
# src and cmd use them only with RLOCK_PRECOMPILED. The preset `dev` has it, because it takes a third of the time of a build. `release`
# does not: the compiler makes other bytes with them, so the bytes would depend on whether there is a compiler cache. `clang` does not
# either, so that it finds files that forget an #include.

function(precompiled target)
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} PRIVATE <algorithm> <chrono> <csignal> <functional> <map> <memory> <optional>
      <set> <string> <string_view> <variant> <vector> <fmt/format.h> ${ARGN})
  endif()
endfunction()

if(RLOCK_PORTABLE)  # its compiler does not accept -Xclang -emit-pch
  set(CMAKE_CXX_COMPILE_OPTIONS_CREATE_PCH -Winvalid-pch -include <PCH_HEADER> -x c++-header)
endif()
