# rlock::flags: warnings for everybody, sanitizers or hardening where the preset asks for them.

add_library(rlock_flags INTERFACE)
add_library(rlock::flags ALIAS rlock_flags)

# C++20's {.until = now} leaves members out on purpose.
target_compile_options(rlock_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wno-missing-field-initializers)

if(RLOCK_SANITIZE)
  target_compile_options(rlock_flags INTERFACE
    -fsanitize=${RLOCK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(rlock_flags INTERFACE -fsanitize=${RLOCK_SANITIZE})
endif()

if(RLOCK_HARDENED)
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES CXX)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  target_compile_options(rlock_flags INTERFACE
    -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -ffunction-sections -fdata-sections)
  target_link_options(rlock_flags INTERFACE
    -static-libstdc++ -static-libgcc -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--gc-sections,--as-needed)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(rlock_flags INTERFACE -fcf-protection)
  endif()
endif()
