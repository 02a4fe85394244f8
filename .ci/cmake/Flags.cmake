# rlock::flags: warnings for all presets, hardening if the preset asks for it, sanitizers for fuzzers.

add_library(rlock_flags INTERFACE)
add_library(rlock::flags ALIAS rlock_flags)

# C++20's {.until = now} leaves out members on purpose. -Wconversion of clang includes sign conversions, that of g++ does not.
target_compile_options(rlock_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wno-missing-field-initializers -Wno-sign-conversion $<$<CXX_COMPILER_ID:Clang>:-Wshadow-field>)

# An index out of range ends the process. These checks cost next to nothing.
target_compile_definitions(rlock_flags INTERFACE _GLIBCXX_ASSERTIONS)

if(RLOCK_SANITIZE)
  target_compile_options(rlock_flags INTERFACE
    -fsanitize=${RLOCK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(rlock_flags INTERFACE -fsanitize=${RLOCK_SANITIZE})
endif()

if(RLOCK_HARDENED)
  if(NOT RLOCK_PORTABLE)  # the compiler of the portable build always makes PIEs
    include(CheckPIESupported)
    check_pie_supported(LANGUAGES CXX)
  endif()
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  target_compile_options(rlock_flags INTERFACE
    -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -ffunction-sections -fdata-sections
    # The last three: so that builds in any folder have the same bytes.
    -Wdate-time -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${RLOCK_DEPS}/=)
  target_link_options(rlock_flags INTERFACE
    -s -static-libstdc++ -static-libgcc -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--gc-sections,--as-needed)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(rlock_flags INTERFACE -fcf-protection -fstack-clash-protection)
    if(NOT RLOCK_PORTABLE)  # 80 KB less, and 18,000 instructions of a start, with glibc 2.36 or later
      include(CheckCXXSourceRuns)
      set(CMAKE_REQUIRED_LINK_OPTIONS -pie -Wl,-z,pack-relative-relocs)
      check_cxx_source_runs("int one; int* here = &one; int main() { return *here; }" RLOCK_PACKED_RELOCATIONS)
      unset(CMAKE_REQUIRED_LINK_OPTIONS)
      if(RLOCK_PACKED_RELOCATIONS)
        target_link_options(rlock_flags INTERFACE -Wl,-z,pack-relative-relocs)
      endif()
    endif()
  elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    target_compile_options(rlock_flags INTERFACE -mbranch-protection=standard)
  endif()
endif()
