# quick(target): makes a build quicker. Most of its time goes into the headers of libraries.
#
# With RLOCK_TOGETHER up to a dozen files of a room (src/redis, cmd/hold) are compiled as one, and of a room of tests two dozen, which
# takes a fifth less time than one dozen, and a gigabyte for each compiler. `release` has it, which makes its binary 5 % smaller.
# `.ci/test` and `.ci/run` set it for a build from nothing. After a change of one file its neighbours are compiled, too, and
# compile_commands.json does not name the files. So a build for people who work on the code is without it. No two files of a
# room may define the same name, also not in unnamed namespaces. A file with a property of its own (a definition, a folder of
# headers) is compiled apart.
#
# Without it, headers of libraries that most files include are precompiled. A build with a compiler cache does not use them: the
# cache could not keep files for other folders.
#
# All of `dev` from nothing, on two cores: 310 s with RLOCK_TOGETHER (592 s of processor time), 480 s with precompiled headers
# (920 s), one after the other on the same machine. Precompiled headers save 40 % of a build without either.
#
# The preset `clang` does neither with src and cmd, so that it finds a missing #include.

function(quick target)
  if(RLOCK_TOGETHER)
    compile_together(${target})
  elseif(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} PRIVATE <algorithm> <chrono> <csignal> <functional> <map> <memory> <optional>
      <set> <string> <string_view> <variant> <vector> <fmt/format.h> ${ARGN})
  endif()
endfunction()

function(compile_together target)
  get_target_property(sources ${target} SOURCES)
  list(SORT sources)
  set(last "")
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE room)
    cmake_path(GET room PARENT_PATH room)
    string(REGEX REPLACE "^([^/]+/[^/]+)/.*" "\\1" room "${room}")
    if(NOT room STREQUAL last)
      set(last "${room}")
      set(number 0)
    endif()
    set(most 12)
    if(room MATCHES "^tests/")
      set(most 24)
    endif()
    math(EXPR group "${number} / ${most}")
    math(EXPR number "${number} + 1")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${room}/${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
