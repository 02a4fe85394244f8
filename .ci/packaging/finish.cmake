# CPack runs this between installation and packing, once for each kind of package.

set(root ${CPACK_TEMPORARY_DIRECTORY})
set(share ${root}/usr/share)
set(documents ${share}/doc/rlock)

function(compress)
  foreach(file IN LISTS ARGN)
    execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endfunction()

# Makes Debian's changelog of CHANGELOG.md: the same items, in short lines.
function(debian_changelog to)
  file(READ ${CPACK_RLOCK_SOURCE}/CHANGELOG.md text)
  string(REGEX REPLACE "\n  +" " " text "${text}")
  string(REGEX MATCHALL "\n- [^\n]*" items "${text}")
  execute_process(COMMAND date -u -R -d @${CPACK_SOURCE_DATE_EPOCH}
    OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${to} "${items}")
  execute_process(COMMAND fold -s -w 74 ${to} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "[ ;]*\n" "\n    " text "${text}")
  string(REGEX REPLACE "\n    - " "\n  * " text "${text}")
  string(REGEX REPLACE "\n +\n" "\n" text "${text}")
  file(WRITE ${to} "rlock (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n${text}\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
endfunction()

# Removes the name of the compiler from the binary: NOTICE has it.
file(GLOB_RECURSE binary ${root}/rlock)
list(FILTER binary INCLUDE REGEX "/bin/rlock$")
execute_process(COMMAND objcopy --remove-section=.comment ${binary} COMMAND_ERROR_IS_FATAL ANY)

file(GLOB manuals ${share}/man/man1/*.1 ${share}/man/man5/*.5 ${share}/man/man7/*.7)
if(CPACK_GENERATOR MATCHES "DEB|RPM")
  file(COPY ${CPACK_RLOCK_SOURCE}/.ci/packaging/config DESTINATION ${root}/etc/rlock
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  compress(${manuals})
endif()

if(CPACK_GENERATOR STREQUAL "DEB")
  debian_changelog(${documents}/changelog)
  compress(${documents}/changelog)
  file(REMOVE ${documents}/CHANGELOG.md ${documents}/config.example)
  # A Debian package refers to the copy of a license that every Debian has.
  file(READ ${documents}/NOTICE notice)
  string(REPLACE "see LICENSE" "see /usr/share/common-licenses/Apache-2.0" notice "${notice}")
  file(WRITE ${documents}/copyright "${notice}")
  file(REMOVE ${documents}/NOTICE ${documents}/LICENSE)
  file(COPY ${CPACK_RLOCK_SOURCE}/.ci/packaging/lintian-overrides DESTINATION ${share}/lintian/overrides)
  file(RENAME ${share}/lintian/overrides/lintian-overrides ${share}/lintian/overrides/rlock)
  # The zsh of Debian looks in another folder for completions.
  file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)
endif()

# Sets all modes, so that they depend neither on the umask nor on the modes of the sources.
set(read OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
set(execute ${read} OWNER_EXECUTE GROUP_EXECUTE WORLD_EXECUTE)
file(CHMOD_RECURSE ${root} FILE_PERMISSIONS ${read} DIRECTORY_PERMISSIONS ${execute})
file(CHMOD ${binary} PERMISSIONS ${execute})
