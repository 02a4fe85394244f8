# The libraries that rlock needs, as rlock::hiredis, rlock::tls, rlock::openssl, rlock::fmt, rlock::json, rlock::cli11 and
# rlock::doctest.
#
# Archives are preferred over shared objects: the whole run of a short command takes twice as long when the
# loader has to find, map and relocate hiredis and libstdc++ first. OpenSSL is neither: see src/redis/tls_library.h.
#
# For NOTICE their versions: OPENSSL_VERSION, HIREDIS_VERSION, FMT_VERSION, JSON_VERSION, CLI11_VERSION, ZLIB_VERSION,
# ZSTD_VERSION and GCC_VERSION.

find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
set(JSON_VERSION ${nlohmann_json_VERSION})
set(GCC_VERSION ${CMAKE_CXX_COMPILER_VERSION})

# hiredis >= 1.1 (RESP3 pushes). Distributions ship no usable CMake package for it, some an older release.
find_path(HIREDIS_INCLUDE_DIR hiredis/hiredis.h PATHS ${RLOCK_DEPS}/hiredis/include NO_DEFAULT_PATH)
find_path(HIREDIS_INCLUDE_DIR hiredis/hiredis.h)
if(HIREDIS_INCLUDE_DIR)
  file(STRINGS ${HIREDIS_INCLUDE_DIR}/hiredis/hiredis.h version REGEX "^#define HIREDIS_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]" "" version "${version}")
  list(JOIN version "." HIREDIS_VERSION)
endif()
get_filename_component(prefix "${HIREDIS_INCLUDE_DIR}" DIRECTORY)
find_library(HIREDIS_LIBRARY libhiredis.a HINTS ${prefix}/lib)
if(NOT HIREDIS_LIBRARY OR HIREDIS_VERSION VERSION_LESS 1.1)
  message(FATAL_ERROR "hiredis >= 1.1 with libhiredis.a is missing (found: '${HIREDIS_VERSION}'); "
    "run .ci/setup, or build it (make static) and set RLOCK_DEPS to the folder that holds hiredis/")
endif()
message(STATUS "Found hiredis ${HIREDIS_VERSION}: ${HIREDIS_LIBRARY}")
add_library(rlock_hiredis INTERFACE)
target_include_directories(rlock_hiredis SYSTEM INTERFACE ${HIREDIS_INCLUDE_DIR})
target_link_libraries(rlock_hiredis INTERFACE ${HIREDIS_LIBRARY})
add_library(rlock::hiredis ALIAS rlock_hiredis)

# rlock::tls is what src/redis needs of OpenSSL; rlock::openssl are its archives, for RLOCK_LINK_OPENSSL and for the tests,
# which look whether both ways work.
if(RLOCK_LINK_OPENSSL OR RLOCK_TESTS)
  set(OPENSSL_USE_STATIC_LIBS ON)
endif()
find_package(OpenSSL 3 REQUIRED)
add_library(rlock_openssl INTERFACE)
target_link_libraries(rlock_openssl INTERFACE OpenSSL::SSL OpenSSL::Crypto)
set(ZLIB_VERSION "none")
set(ZSTD_VERSION "none")
foreach(library IN ITEMS zstd z)  # what libcrypto.a needs since OpenSSL 3.2, where it is built so
  find_library(ARCHIVE_${library} lib${library}.a)
  if(ARCHIVE_${library})
    target_link_libraries(rlock_openssl INTERFACE ${ARCHIVE_${library}})
  endif()
endforeach()
if(ARCHIVE_z)
  find_path(ZLIB_INCLUDE_DIR zlib.h REQUIRED)
  file(STRINGS ${ZLIB_INCLUDE_DIR}/zlib.h ZLIB_VERSION REGEX "^#define ZLIB_VERSION \"")
  string(REGEX MATCH "[0-9.]+" ZLIB_VERSION "${ZLIB_VERSION}")
endif()
if(ARCHIVE_zstd)
  find_path(ZSTD_INCLUDE_DIR zstd.h REQUIRED)
  file(STRINGS ${ZSTD_INCLUDE_DIR}/zstd.h version REGEX "^#define ZSTD_VERSION_(MAJOR|MINOR|RELEASE) ")
  string(REGEX REPLACE "[^0-9;]" "" version "${version}")
  list(JOIN version "." ZSTD_VERSION)
endif()
add_library(rlock::openssl ALIAS rlock_openssl)
add_library(rlock_tls INTERFACE)
if(RLOCK_LINK_OPENSSL)
  target_link_libraries(rlock_tls INTERFACE rlock::openssl)
else()
  target_include_directories(rlock_tls SYSTEM INTERFACE ${OPENSSL_INCLUDE_DIR})
  target_link_libraries(rlock_tls INTERFACE ${CMAKE_DL_LIBS})
  foreach(unused IN ITEMS OPENSSL_VERSION ZLIB_VERSION ZSTD_VERSION)
    set(${unused} "none")
  endforeach()
endif()
add_library(rlock::tls ALIAS rlock_tls)

find_path(FMT_INCLUDE_DIR fmt/format.h REQUIRED)
set(version_header ${FMT_INCLUDE_DIR}/fmt/base.h)  # since fmt 11
if(NOT EXISTS ${version_header})
  set(version_header ${FMT_INCLUDE_DIR}/fmt/core.h)
endif()
file(STRINGS ${version_header} version REGEX "^#define FMT_VERSION ")
string(REGEX MATCH "[0-9]+$" version "${version}")
math(EXPR major "${version} / 10000")
math(EXPR minor "${version} / 100 % 100")
math(EXPR patch "${version} % 100")
set(FMT_VERSION ${major}.${minor}.${patch})
if(version LESS 110000)
  add_library(rlock_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt.cpp)
  target_include_directories(rlock_fmt SYSTEM PUBLIC ${FMT_INCLUDE_DIR})
  target_link_libraries(rlock_fmt PRIVATE rlock_flags)
else()
  add_library(rlock_fmt INTERFACE)
  target_include_directories(rlock_fmt SYSTEM INTERFACE ${FMT_INCLUDE_DIR})
  target_compile_definitions(rlock_fmt INTERFACE FMT_HEADER_ONLY)
endif()
add_library(rlock::fmt ALIAS rlock_fmt)

add_library(rlock::json ALIAS nlohmann_json::nlohmann_json)
add_library(rlock::cli11 ALIAS CLI11::CLI11)

if(RLOCK_TESTS)
  find_package(doctest REQUIRED)
  add_library(rlock::doctest ALIAS doctest::doctest)
endif()
set(Dependencies_FOUND TRUE)
