# The packages that .ci/package makes with CPack, from the files that `cmake --install` installs. packaging/finish.cmake moves and
# adds files as each distribution demands.

set(CPACK_PACKAGE_NAME rlock)
set(CPACK_PACKAGE_VENDOR "rlock")
# The maintainer and the home page. .ci/release requires both in the environment.
set(CPACK_PACKAGE_CONTACT "rlock maintainers <maintainers@rlock.invalid>")
if(NOT "$ENV{RLOCK_MAINTAINER}" STREQUAL "")
  set(CPACK_PACKAGE_CONTACT "$ENV{RLOCK_MAINTAINER}")
endif()
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "$ENV{RLOCK_HOMEPAGE}")
set(CPACK_RPM_PACKAGE_URL "$ENV{RLOCK_HOMEPAGE}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "distributed locks for scripts, in Redis or Valkey")
set(CPACK_PACKAGE_DESCRIPTION
  "rlock runs a command while it holds a lock, on the Redis or Valkey that is
there already and on the same keys as Redisson: cron jobs, CI pipelines and
Java services that name the same lock exclude each other and wake each other.
The command is stopped before its lock can end.")
set(CPACK_GENERATOR DEB RPM TXZ)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES OFF)  # the linker has stripped the binary
set(CPACK_SOURCE_DATE_EPOCH "$ENV{SOURCE_DATE_EPOCH}")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/../packaging/finish.cmake)
set(CPACK_RLOCK_SOURCE ${PROJECT_SOURCE_DIR})
string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
set(CPACK_PACKAGE_FILE_NAME rlock-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(RLOCK_PACKED_RELOCATIONS)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.36)")  # dpkg-shlibdeps does not know that they need it
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libssl3t64 | libssl3")       # loaded for rediss: only
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "valkey-server | redis-server")  # for local:
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/conffiles ${CMAKE_CURRENT_LIST_DIR}/../packaging/prerm)
file(WRITE ${PROJECT_BINARY_DIR}/conffiles "/etc/rlock/config\n")

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0 AND BSD-3-Clause AND MIT")
set(CPACK_RPM_PACKAGE_SUMMARY "Distributed locks for scripts, in Redis or Valkey")
set(CPACK_RPM_PACKAGE_GROUP "Applications/System")
set(CPACK_RPM_PACKAGE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_RPM_PACKAGE_RELOCATABLE OFF)
set(CPACK_RPM_COMPRESSION_TYPE xz)
set(CPACK_RPM_PRE_UNINSTALL_SCRIPT_FILE ${CMAKE_CURRENT_LIST_DIR}/../packaging/prerm)
set(CPACK_RPM_USER_FILELIST "%config(noreplace) /etc/rlock/config")
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION  # they belong to the distribution
  /etc /usr/share/man /usr/share/man/man1 /usr/share/man/man5 /usr/share/man/man7 /usr/share/bash-completion /usr/share/bash-completion/completions /usr/share/zsh
  /usr/share/zsh/site-functions /usr/share/fish /usr/share/fish/vendor_completions.d)
# rpmbuild must not change the files, and must make the same bytes on every machine. Also sets the packager.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define __os_install_post %{nil}
%define debug_package %{nil}
%define _build_id_links none
%define _buildhost reproducible
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1
%define packager ${CPACK_PACKAGE_CONTACT}
Recommends: (openssl-libs or libopenssl3)
Suggests: valkey")
include(CPack)
