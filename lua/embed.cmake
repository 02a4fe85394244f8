# Turns lua/<synchronizer>/<operation>.lua into Script constants that need no work at run time:
# rlock::scripts::<synchronizer>_<operation>, and rlock::scripts::all.
#
# What is sent to Redis is the file without its comments, blank lines and indentation; the SHA-1 is
# taken of exactly those bytes. Line numbers in Redis' messages are those of `rlock scripts show`.

# Takes the lines `local <name> = include('<name>')` out of the text, and adds what each stands for,
# lua/shared/<name>.lua without its last line `return <name>`, to the property `shared`: once, behind what it
# includes itself. In a script for several servers lua/quorum/<name>.lua goes instead, where there is one.
function(take_includes folder variable)
  set(text "${${variable}}")
  while(text MATCHES "\n[ \t]*local ([a-z_]+) = include\\('([a-z_]+)'\\)[ \t]*\n")
    set(line "${CMAKE_MATCH_0}")
    set(name "${CMAKE_MATCH_1}")
    if(NOT name STREQUAL CMAKE_MATCH_2)
      message(FATAL_ERROR "${line}: what is included keeps its name")
    endif()
    string(REPLACE "${line}" "\n" text "${text}")
    get_property(there GLOBAL PROPERTY included)
    if(NOT name IN_LIST there)
      set_property(GLOBAL APPEND PROPERTY included ${name})
      get_property(for_quorum GLOBAL PROPERTY for_quorum)
      set(file ${folder}/shared/${name}.lua)
      if(for_quorum AND EXISTS ${folder}/quorum/${name}.lua)
        set(file ${folder}/quorum/${name}.lua)
      endif()
      file(READ ${file} shared)
      string(REPLACE "\r" "" shared "\n${shared}")
      string(REGEX REPLACE "\nreturn ${name}\n*$" "\n" shared "${shared}")
      take_includes(${folder} shared)
      set_property(GLOBAL APPEND_STRING PROPERTY shared "${shared}")
    endif()
  endwhile()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# Puts what the text includes at its top: what several scripts need is written once and sent once, also where
# one script does what several do, and each stays one text that uses no global.
function(include_shared folder variable)
  set_property(GLOBAL PROPERTY included)
  set_property(GLOBAL PROPERTY shared)
  set(text "${${variable}}")
  take_includes(${folder} text)
  get_property(shared GLOBAL PROPERTY shared)
  set(${variable} "${shared}${text}" PARENT_SCOPE)
endfunction()

# Puts lua/<file>.lua in the place of each line `local <name> = script('<file>')`, as a function of KEYS and ARGV:
# so one script can do what several do.
function(include_scripts folder variable)
  set(text "${${variable}}")
  while(text MATCHES "\n[ \t]*local ([a-z_]+) = script\\('([a-z_/]+)'\\)[ \t]*\n")
    set(line "${CMAKE_MATCH_0}")
    set(name "${CMAKE_MATCH_1}")
    file(READ ${folder}/${CMAKE_MATCH_2}.lua body)
    string(REPLACE "\r" "" body "\n${body}")
    string(REPLACE "${line}" "\nlocal function ${name}(KEYS, ARGV)\n${body}\nend\n" text "${text}")
  endwhile()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# The bytes of `file` that are worth sending. Long brackets could hold what looks like a comment or an
# indentation, so they are refused: no script here needs one.
function(read_script folder file into)
  file(READ ${folder}/${file} text)
  include_scripts(${folder} text)
  include_shared(${folder} text)
  foreach(bracket IN ITEMS "[[" "[=" ")lua\"")
    string(FIND "${text}" "${bracket}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file}: '${bracket}' cannot be embedded")
    endif()
  endforeach()
  string(REPLACE "\r" "" text "\n${text}\n")
  string(REGEX REPLACE "(\n[ \t]*|  )--[^\n]*" "" text "${text}")
  string(REGEX REPLACE "[ \t]*\n[ \t\n]*" "\n" text "${text}")
  string(REGEX REPLACE "^\n" "" text "${text}")
  set(${into} "${text}" PARENT_SCOPE)
endfunction()

# file(WRITE) that leaves a file alone which already says the same, so that nothing is compiled again.
function(write_changed file text)
  if(EXISTS ${file})
    file(READ ${file} before)
    if(before STREQUAL text)
      return()
    endif()
  endif()
  file(WRITE ${file} "${text}")
endfunction()

# embed_scripts(FROM folder TO folder SOURCES variable): writes scripts.h and scripts.cpp.
function(embed_scripts)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "FROM;TO;SOURCES" "")
  file(GLOB files RELATIVE ${arg_FROM} CONFIGURE_DEPENDS ${arg_FROM}/*/*.lua)
  list(TRANSFORM files PREPEND ${arg_FROM}/ OUTPUT_VARIABLE paths)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${paths})
  list(FILTER files EXCLUDE REGEX "^(shared|quorum)/")
  # Those that several servers get: see lua/quorum.
  foreach(file IN ITEMS lock/acquire lock/release read/acquire read/release write/acquire write/release multi/lock multi/read
                        multi/write)
    list(APPEND files quorum/${file}.lua)
  endforeach()

  foreach(file IN LISTS files)
    set_property(GLOBAL PROPERTY for_quorum OFF)
    set(path ${file})
    if(file MATCHES "^quorum/(.*)")
      set_property(GLOBAL PROPERTY for_quorum ON)
      set(path ${CMAKE_MATCH_1})
      string(REPLACE "/" "_" file "${path}")
      string(PREPEND file "quorum/")
    endif()
    read_script(${arg_FROM} ${path} source)
    string(SHA1 sha1 "${source}")
    string(REGEX REPLACE "\\.lua$" "" name ${file})
    string(REGEX REPLACE "[^A-Za-z0-9]" "_" constant ${name})
    string(APPEND declared "extern const Script ${constant};\n")
    string(APPEND defined "constinit const Script ${constant}{\"${name}\", \"${sha1}\", R\"lua(${source})lua\"};\n\n")
    string(APPEND pointers "    &${constant},\n")
  endforeach()

  set(banner "// Written by lua/embed.cmake.\n")
  write_changed(${arg_TO}/scripts.h "${banner}#pragma once\n\n#include <span>\n\n#include \"redis/script.h\"\n
namespace rlock::scripts {\n\n${declared}\n/// Every script, by name.\nextern const std::span<const Script* const> all;\n
}  // namespace rlock::scripts\n")
  if(files)
    write_changed(${arg_TO}/scripts.cpp "${banner}#include \"scripts.h\"\n\nnamespace rlock::scripts {\n
${defined}namespace {\nconstexpr const Script* kAll[] = {\n${pointers}};\n}  // namespace\n
constinit const std::span<const Script* const> all{kAll};\n\n}  // namespace rlock::scripts\n")
    set(${arg_SOURCES} ${arg_TO}/scripts.cpp PARENT_SCOPE)
  endif()
endfunction()
