# Turns lua/<subject>/<operation>.lua into Script constants that need no work at run time: rlock::scripts::<subject>_<operation>,
# and rlock::scripts::all. The subject is a synchronizer (lock, latch, ...), or what several of them share (inspect, multi, ...).
# The build runs this file as a script:
#
#   cmake -D TO=<folder> -P lua/embed.cmake      writes scripts.h and scripts.cpp there, and parameter_names.h for tests
#
# It gives KEYS and ARGV the names of the script's contract; lua/contract.cmake explains the rows of a contract.
#
# Redis gets the file without its comments, blank lines, indentation and the blanks that separate no words. redis.call gets a
# short local name. The SHA-1 is that of exactly these bytes. `rlock scripts show` prints them, so it has the line numbers in
# messages of Redis.
#
# The line `local ask = script('lock/acquire')` in multi/lock says that multi/lock does for several keys what lock/acquire does
# for one.

cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/contract.cmake)

# Makes the Lua statements that give KEYS and ARGV the names of a contract, as far as `text` uses the names. If `for_quorum` is
# ON, the script is for the nodes of a quorum, and has no line.
function(name_arguments folder file for_quorum text into)
  set(code "")
  set(tables "")
  read_rows(${folder} ${file} KEYS KEYS)
  read_rows(${folder} ${file} ARGV ARGV)
  set(left "")
  set(right "")
  foreach(section IN ITEMS KEYS ARGV)
    set(number 0)
    foreach(name IN LISTS ${section})
      math(EXPR number "${number} + 1")
      set(value "${section}[${number}]")
      if(name IN_LIST ${section}_numbers)
        set(value "tonumber(${value})")
      endif()
      if(name MATCHES "^([a-z_]+)[.]([a-z_]+)$")
        list(APPEND tables ${CMAKE_MATCH_1})
        string(APPEND fields_${CMAKE_MATCH_1} "${CMAKE_MATCH_2} = ${value}, ")
        continue()
      endif()
      if(name IN_LIST also_in_tables)
        string(APPEND also "${name} = ${value}, ")
      endif()
      string(REPLACE "..." "" list ${name})
      if(NOT text MATCHES "(^|[^a-z_.'])${list}($|[^a-z_'])")
        continue()
      elseif(NOT name STREQUAL list)
        math(EXPR before "${number} - 1")
        if(before EQUAL 0)
          string(APPEND code "local ${list} = ${section}\n")
        else()
          string(APPEND code "local ${list} = {}\n"
                             "for i = ${number}, #${section} do ${list}[i - ${before}] = ${section}[i] end\n")
        endif()
      else()
        list(APPEND left ${name})
        list(APPEND right ${value})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES tables)
  foreach(table IN LISTS tables)
    if(text MATCHES "(^|[^a-z_.'])${table}($|[^a-z_'])")
      list(APPEND left ${table})
      if(NOT for_quorum)
        string(REGEX REPLACE ", $" "" fields "${fields_${table}}${also}")
        list(APPEND right "{${fields}}")
      endif()
    endif()
  endforeach()
  if(left)
    list(JOIN left ", " left)
    list(JOIN right ", " right)
    string(PREPEND code "local ${left} = ${right}\n")
  endif()
  set(${into} "${code}" PARENT_SCOPE)
endfunction()

# Takes the lines `local <name> = include('<folder>/<name>')` out of the text. For each it adds the file <folder>/<name>.lua,
# without its last line `return <name>`, to `shared`: once, and behind the files that it includes itself. The file is looked for
# in the folders `places`; the first one that has it counts.
#
# `shared` and `included` (what is in it already) are variables of the caller, which both may grow.
function(take_includes places variable)
  set(text "${${variable}}")
  while(text MATCHES "\n[ \t]*local ([a-z_]+) = include\\('([a-z_]+/([a-z_]+))'\\)[ \t]*\n")
    set(line "${CMAKE_MATCH_0}")
    set(name "${CMAKE_MATCH_1}")
    set(path "${CMAKE_MATCH_2}")
    if(NOT name STREQUAL CMAKE_MATCH_3)
      message(FATAL_ERROR "${line}: what is included keeps its name")
    endif()
    string(REPLACE "${line}" "\n" text "${text}")
    if(NOT path IN_LIST included)
      list(APPEND included ${path})
      foreach(place IN LISTS places)
        set(source ${place}/${path}.lua)
        if(EXISTS ${source})
          break()
        endif()
      endforeach()
      file(READ ${source} statements)
      string(REPLACE "\r" "" statements "\n${statements}")
      string(REGEX REPLACE "\nreturn ${name}\n*$" "\n" statements "${statements}")
      take_includes("${places}" statements)
      string(APPEND shared "${statements}")
    endif()
  endwhile()
  set(${variable} "${text}" PARENT_SCOPE)
  set(shared "${shared}" PARENT_SCOPE)
  set(included "${included}" PARENT_SCOPE)
endfunction()

# Puts the included files at the top of the text of `file`, each once, even if the script contains several other scripts. So a
# script is one text that uses no global.
#
# These files stand in lua/shared. In the scripts of lua/multi, a file of lua/multi/shared replaces the one of that name; in the
# scripts for the nodes of a quorum, a file of lua/quorum does.
function(include_shared folder file for_quorum variable)
  get_filename_component(own ${file} DIRECTORY)
  set(places ${folder}/${own}/shared ${folder}/shared)
  if(for_quorum)
    list(PREPEND places ${folder}/quorum)
  endif()
  set(shared "")
  set(included "")
  set(text "${${variable}}")
  take_includes("${places}" text)
  set(${variable} "${shared}${text}" PARENT_SCOPE)
endfunction()

# Takes the comments out of the text. A comment begins its line, or stands behind two blanks. So a string may not contain two
# blanks and two dashes: this would leave an odd number of quotes in its line.
function(take_comments file variable)
  string(REGEX REPLACE "(\n[ \t]*|  )--[^\n]*" "" text "${${variable}}")
  if(text MATCHES "\n([^'\n]*'([^'\n]*'[^'\n]*')*[^'\n]*)\n")
    message(FATAL_ERROR "${file}: is there a string with two blanks before a dash? ${CMAKE_MATCH_1}")
  endif()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# Reads the statements of a script, adds names for its KEYS and ARGV, and replaces these:
#   local <name> = script('<file>')   by lua/<file>.lua as a function of KEYS and ARGV, so that one script can call others
#   names_of('<file>', KEYS, ARGV)    by the names of that contract
#   keys_of('<file>')                 by the list of its KEYS. They are taken from our KEYS with the same names
#   fields('owner, way')              by owner = owner, way = way
function(read_statements folder file for_quorum into)
  file(READ ${folder}/${file}.lua text)
  string(REPLACE "\r" "" text "\n${text}\n")
  take_comments(${file} text)
  while(text MATCHES "keys_of\\('([a-z_/]+)'\\)")
    set(list "${CMAKE_MATCH_0}")
    read_rows(${folder} ${CMAKE_MATCH_1} KEYS keys)
    list(JOIN keys ", " keys)
    string(REPLACE "${list}" "{${keys}}" text "${text}")
  endwhile()
  while(text MATCHES "fields\\('([a-z_, ]+)'\\)")
    set(list "${CMAKE_MATCH_0}")
    string(REGEX REPLACE "[a-z_]+" "\\0 = \\0" fields "${CMAKE_MATCH_1}")
    string(REPLACE "${list}" "${fields}" text "${text}")
  endwhile()
  name_arguments(${folder} ${file} ${for_quorum} "${text}" names)
  set(own "${text}")
  while(text MATCHES "\n[ \t]*names_of\\('([a-z_/]+)', KEYS, ARGV\\)[ \t]*\n")
    set(line "${CMAKE_MATCH_0}")
    name_arguments(${folder} ${CMAKE_MATCH_1} ${for_quorum} "${own}" of_other)
    string(REPLACE "${line}" "\n${of_other}\n" text "${text}")
  endwhile()
  while(text MATCHES "\n[ \t]*local ([a-z_]+) = script\\('([a-z_/]+)'\\)[ \t]*\n")
    set(line "${CMAKE_MATCH_0}")
    set(name "${CMAKE_MATCH_1}")
    read_statements(${folder} ${CMAKE_MATCH_2} ${for_quorum} body)
    string(REPLACE "${line}" "\nlocal function ${name}(KEYS, ARGV)\n${body}\nend\n" text "${text}")
  endwhile()
  set(${into} "\n${names}${text}" PARENT_SCOPE)
endfunction()

# Takes the blanks out of the text that stand beside anything but a letter, a digit or an underscore. Those in strings stay.
function(take_blanks variable)
  set(text "\n${${variable}}")
  string(ASCII 1 blank)
  # Behind an odd number of quotes, a blank is part of a string.
  while(text MATCHES "(\n[^'\n]*('[^'\n]*'[^'\n]*)*'[^'\n ]*) ")
    string(REPLACE "${CMAKE_MATCH_0}" "${CMAKE_MATCH_1}${blank}" text "${text}")
  endwhile()
  string(REGEX REPLACE "([^A-Za-z0-9_]) " "\\1" text "${text}")
  string(REGEX REPLACE "([{,])\n" "\\1" text "${text}")
  # Not behind a digit: the dots of `..` would belong to the number.
  string(REGEX REPLACE "([A-Za-z_]) ([^A-Za-z0-9_])" "\\1\\2" text "${text}")
  if(text MATCHES "--")
    message(FATAL_ERROR "two operators have become a comment: ${text}")
  endif()
  string(REPLACE "${blank}" " " text "${text}")
  string(REGEX REPLACE "^\n" "" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# The text of `file` to send, without comments, blank lines and indentation. Long brackets are refused, because they could contain
# text that only looks like a comment or an indentation: no script here needs one.
function(read_script folder file for_quorum into)
  read_statements(${folder} ${file} ${for_quorum} text)
  include_shared(${folder} ${file} ${for_quorum} text)
  foreach(bracket IN ITEMS "[[" "[=" ")lua\"")
    string(FIND "${text}" "${bracket}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file}: '${bracket}' cannot be embedded")
    endif()
  endforeach()
  set(text "\n${text}\n")
  take_comments(${file} text)
  string(REGEX REPLACE "[ \t]*\n[ \t\n]*" "\n" text "${text}")
  string(REGEX REPLACE "^\n" "" text "${text}")
  if(text MATCHES "[^a-z_.]call[ (,=]")
    message(FATAL_ERROR "${file}: `call` is the short name for redis.call: write redis.call, and choose another name")
  endif()
  take_blanks(text)
  if(text MATCHES "redis[.]call[(]")
    string(REPLACE "redis.call(" "call(" text "local call=redis.call\n${text}")
  endif()
  set(${into} "${text}" PARENT_SCOPE)
endfunction()

# Like file(WRITE), but does not touch a file that has this text already: then nothing is compiled again.
function(write_changed file text)
  if(EXISTS ${file})
    file(READ ${file} before)
    if(before STREQUAL text)
      return()
    endif()
  endif()
  file(WRITE ${file} "${text}")
endfunction()

# Adds a script to the variables `declared`, `defined`, `pointers` and `parameters` of embed_scripts(): that of `file`, or if
# `for_quorum` is ON, the one that the nodes of a quorum get in its place. It also reads of_quorum and several_<file> there.
function(embed_script folder file for_quorum)
  string(REPLACE "/" "_" constant "${file}")
  set(name ${file})
  set(prefix "")
  set(without_line "nullptr")
  if(for_quorum)
    set(name "quorum/${constant}")
    set(prefix "quorum_")
  elseif(file IN_LIST of_quorum)
    set(without_line "&quorum_${constant}")
  endif()
  set(several "nullptr")
  if(DEFINED several_${file})
    set(several "&${prefix}${several_${file}}")
  endif()
  read_script(${folder} ${file} ${for_quorum} source)
  string(SHA1 sha1 "${source}")
  foreach(section IN ITEMS KEYS ARGV)
    read_rows(${folder} ${file} ${section} ${section})
    list(FILTER ${section} EXCLUDE REGEX "[.][.][.]$")
    list(TRANSFORM ${section} REPLACE "[.]" "_")
    list(APPEND parameters ${${section}})
    list(TRANSFORM ${section} PREPEND "P::")
    list(JOIN ${section} ", " ${section})
  endforeach()
  string(APPEND declared "extern const Script ${prefix}${constant};\n")
  string(APPEND defined "constinit const Script ${prefix}${constant}{\"${name}\", \"${sha1}\", R\"lua(${source})lua\",\n"
                        "{${KEYS}}, {${ARGV}}, ${KEYS_required}, ${ARGV_required}, ${several}, ${without_line}};\n\n")
  string(APPEND pointers "    &${prefix}${constant},\n")
  foreach(variable IN ITEMS declared defined pointers parameters)
    set(${variable} "${${variable}}" PARENT_SCOPE)
  endforeach()
endfunction()

# Checks the positions that hold/all_or_none uses, in the script of lua/multi with this text. The first key of `ask` and `undo` is
# the lock, the last key of `ask` is the shares, and that of an undo, which has neither `keep` nor `shares`, is the request.
function(check_positions folder file text)
  foreach(part IN ITEMS ask undo)
    if(NOT text MATCHES "\nlocal ${part} = script\\('([a-z_/]+)'\\)\n")
      message(FATAL_ERROR "${file}: it has no line `local ${part} = script('...')`")
    endif()
    read_rows(${folder} ${CMAKE_MATCH_1} KEYS ${part})
  endforeach()
  if(NOT ask MATCHES "^lock;.*;shares$" OR NOT undo MATCHES "^lock;.*;request;keep;shares$")
    message(FATAL_ERROR "${file}: hold/all_or_none needs other positions than ${ask} and ${undo}")
  endif()
endfunction()

# Writes scripts.h, scripts.cpp and parameter_names.h into the folder `to`.
function(embed_scripts folder to)
  file(GLOB files RELATIVE ${folder} ${folder}/*/*.lua)
  list(TRANSFORM files REPLACE "[.]lua$" "")
  # Finds the scripts that the nodes of a quorum get without the line, and the scripts that do the same for several keys.
  set(of_quorum "")
  foreach(file IN LISTS files)
    file(READ ${folder}/${file}.lua text)
    read_quorum(${folder} ${file} has_second)
    if(has_second)
      list(APPEND of_quorum ${file})
    endif()
    if(text MATCHES "\nlocal ask = script\\('([a-z_/]+)'\\)\n")
      string(REPLACE "/" "_" several_${CMAKE_MATCH_1} "${file}")
      check_positions(${folder} ${file} "${text}")
    endif()
  endforeach()

  foreach(variable IN ITEMS declared defined pointers parameters)
    set(${variable} "")
  endforeach()
  foreach(file IN LISTS files)
    embed_script(${folder} ${file} OFF)
  endforeach()
  foreach(file IN LISTS of_quorum)
    embed_script(${folder} ${file} ON)
  endforeach()
  list(REMOVE_DUPLICATES parameters)
  list(SORT parameters)
  list(TRANSFORM parameters REPLACE "(.+)" "    {\"\\1\", Parameter::\\1},\n" OUTPUT_VARIABLE names)
  list(JOIN names "" names)
  list(JOIN parameters ",\n  " parameters)

  set(banner "// Written by lua/embed.cmake.\n")
  write_changed(${to}/scripts.h "${banner}#pragma once\n\n#include <cstdint>\n#include <span>\n\n#include \"redis/script.h\"\n
namespace rlock {\n
/// The keys and arguments of all scripts, by the names that their contracts give them.
enum class Parameter : std::uint8_t {\n  none,\n  ${parameters},\n};\n
namespace scripts {\n\n${declared}\n/// Every script, by name.\nextern const std::span<const Script* const> all;\n
}  // namespace scripts\n}  // namespace rlock\n")
  write_changed(${to}/scripts.cpp "${banner}#include \"scripts.h\"\n\nnamespace rlock::scripts {\n\nusing P = Parameter;\n
${defined}namespace {\nconstexpr const Script* kAll[] = {\n${pointers}};\n}  // namespace\n
constinit const std::span<const Script* const> all{kAll};\n\n}  // namespace rlock::scripts\n")
  write_changed(${to}/parameter_names.h "${banner}#pragma once\n\n#include <string_view>\n\n#include \"scripts.h\"\n
namespace rlock {\n
/// The names of the parameters as text, for tests.
struct ParameterName {\n  std::string_view name;\n  Parameter parameter;\n};
inline constexpr ParameterName kParameterNames[] = {\n${names}};\n\n}  // namespace rlock\n")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  embed_scripts(${CMAKE_CURRENT_LIST_DIR} ${TO})
endif()
