# Reads contracts, for lua/embed.cmake and lua/names.cmake.
#
# The comment at the head of a script is its contract, and the only place that names and orders KEYS and ARGV. Each row names one
# of them; only lua/embed.cmake turns the rows into positions:
#
#   -- KEYS  lock     hash: ...          KEYS[1] is `lock`
#   --       line: order, waiters, facts the next three are fields of the table `line`. It also has the
#                                        arguments in `also_in_tables`, if they are in ARGV
#   --       ids...   16 bytes each      all that follow, as a list
#   --       those of lock/release       the rows of that contract
#   -- QUORUM  without the line          the nodes of a quorum get a second script, with the files of lua/quorum in place
#                                        of those of lua/shared
#
# If the text of a row begins with `number` (or `optional, number`), the script gets a number. A call may leave out the first
# `optional` one and all that follow it; see also call_of() in src/sync/calls/values.h, which gives values by these names.

cmake_minimum_required(VERSION 3.25)

# These arguments are also fields of every table: who tells the waiters in it, or gives one a place, needs them.
set(also_in_tables channel sharded waited ticket)

# Reads the rows of `section`, KEYS or ARGV, of a contract. Sets three variables:
#   <into>           the names in their order, a field as line.order
#   <into>_required  how many of them a call must give
#   <into>_numbers   the names that are numbers
function(read_rows folder file section into)
  file(READ ${folder}/${file}.lua text)
  string(REPLACE "\r" "" text "${text}")
  set(names "")
  set(numbers "")
  set(required 0)
  set(optional OFF)
  set(inside OFF)
  set(line 0)
  while(text MATCHES "^(--[^\n]*)\n")
    set(row "${CMAKE_MATCH_1}")
    math(EXPR line "${line} + 1")
    string(LENGTH "${row}\n" length)
    string(SUBSTRING "${text}" ${length} -1 text)
    if(row MATCHES "^-- (KEYS|ARGV|->)  ")
      set(inside OFF)
      if(CMAKE_MATCH_1 STREQUAL section)
        set(inside ON)
      endif()
    endif()
    if(NOT inside)
      continue()
    endif()
    if(row MATCHES "^--( KEYS  | ARGV  |       )those of ([a-z_]+/[a-z_]+)$")
      read_rows(${folder} ${CMAKE_MATCH_2} ${section} more)
      list(APPEND names ${more})
      list(APPEND numbers ${more_numbers})
      if(NOT optional)
        math(EXPR required "${required} + ${more_required}")
        list(LENGTH more length)
        if(more_required LESS length)
          set(optional ON)
        endif()
      endif()
    elseif(row MATCHES "^--( KEYS  | ARGV  |       )(([a-z_]+): )?([a-z_]+(, [a-z_]+)*)([.]*)($|  +(.*))")
      set(table "${CMAKE_MATCH_3}")
      set(fields "${CMAKE_MATCH_4}")
      set(rest "${CMAKE_MATCH_6}")
      set(meaning "${CMAKE_MATCH_8}")
      if(meaning MATCHES "^optional" OR rest)
        set(optional ON)
      endif()
      if(NOT rest AND meaning MATCHES "^(optional.? )?(a|an|the)? ?[Nn]umber" AND NOT meaning MATCHES "^(optional, )?number")
        message(FATAL_ERROR "${folder}/${file}.lua:${line}: is it a number for the script? Then write `number` or `optional, number`: ${row}")
      endif()
      string(REPLACE ", " ";" fields "${fields}")
      foreach(field IN LISTS fields)
        set(name "${field}${rest}")
        if(table)
          set(name "${table}.${field}")
        endif()
        list(APPEND names ${name})
        if(meaning MATCHES "^(optional, )?number")
          list(APPEND numbers ${name})
        endif()
        if(NOT optional)
          math(EXPR required "${required} + 1")
        endif()
      endforeach()
    elseif(NOT row MATCHES "^--        ")  # a row goes on in lines with a deeper indentation
      message(FATAL_ERROR "${folder}/${file}.lua:${line}: this row of the contract names no key and no argument: ${row}")
    endif()
  endwhile()
  set(${into} "${names}" PARENT_SCOPE)
  set(${into}_required ${required} PARENT_SCOPE)
  set(${into}_numbers "${numbers}" PARENT_SCOPE)
endfunction()

# Does a contract have the row QUORUM? Sets <into>.
function(read_quorum folder file into)
  file(READ ${folder}/${file}.lua text)
  string(REPLACE "\r" "" text "\n${text}")
  set(${into} OFF PARENT_SCOPE)
  if(text MATCHES "\n-- QUORUM  without the line\n")
    set(${into} ON PARENT_SCOPE)
  elseif(text MATCHES "\n(-- *[Qq][Uu][Oo][Rr][Uu][Mm][^\n]*|--[^\n]*without the line[^\n]*)")
    message(FATAL_ERROR "${folder}/${file}.lua: is there a script without the line? Then write the row of lock/acquire: ${CMAKE_MATCH_1}")
  endif()
endfunction()
