# precompiled(target): the headers of others that most files include are read once. Not with a compiler cache, which would
# have to compile such files each time.
#
# src and cmd have them only where RLOCK_PRECOMPILED says so: the preset `dev` finds a file that forgets an #include. The preset
# `release` has none: with them the compiler makes other bytes, and they would depend on whether there is a compiler cache.

function(precompiled target)
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} PRIVATE <algorithm> <chrono> <csignal> <functional> <map> <memory> <optional>
      <set> <string> <string_view> <variant> <vector> <fmt/format.h> ${ARGN})
  endif()
endfunction()

if(RLOCK_PORTABLE)  # its driver of clang decides by what it is asked for, and does not let -Xclang -emit-pch through
  set(CMAKE_CXX_COMPILE_OPTIONS_CREATE_PCH -Winvalid-pch -include <PCH_HEADER> -x c++-header)
endif()
