# rlock::flags: warnings for everybody, hardening where the preset asks for it, sanitizers for fuzzers.

add_library(rlock_flags INTERFACE)
add_library(rlock::flags ALIAS rlock_flags)

# C++20's {.until = now} leaves members out on purpose. Sign conversions: g++ counts them apart from -Wconversion,
# clang does not.
target_compile_options(rlock_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wno-missing-field-initializers -Wno-sign-conversion)

# Out of range is an end, not a surprise: the checks cost next to nothing.
target_compile_definitions(rlock_flags INTERFACE _GLIBCXX_ASSERTIONS)

if(RLOCK_SANITIZE)
  target_compile_options(rlock_flags INTERFACE
    -fsanitize=${RLOCK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(rlock_flags INTERFACE -fsanitize=${RLOCK_SANITIZE})
endif()

if(RLOCK_HARDENED)
  if(NOT RLOCK_PORTABLE)  # there the compiler makes nothing else
    include(CheckPIESupported)
    check_pie_supported(LANGUAGES CXX)
  endif()
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  target_compile_options(rlock_flags INTERFACE
    -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -ffunction-sections -fdata-sections
    -Wdate-time -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${RLOCK_DEPS}/=)  # the same bytes in every folder
  target_link_options(rlock_flags INTERFACE
    -s -static-libstdc++ -static-libgcc -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--gc-sections,--as-needed)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(rlock_flags INTERFACE -fcf-protection -fstack-clash-protection)
  elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    target_compile_options(rlock_flags INTERFACE -mbranch-protection=standard)
  endif()
endif()
