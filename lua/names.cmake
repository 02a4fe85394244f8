# Prints a line for each script: its file, and what names it gets from its contract. .luacheckrc reads the lines:
#
#   cmake -P lua/names.cmake

cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/contract.cmake)

set(folder ${CMAKE_CURRENT_LIST_DIR})
file(GLOB files RELATIVE ${folder} ${folder}/*/*.lua)
foreach(file IN LISTS files)
  file(STRINGS ${folder}/${file} contracts REGEX "names_of\\(")
  list(TRANSFORM contracts REPLACE ".*'(.*)'.*" "\\1.lua")
  set(names lua/${file})
  foreach(contract IN LISTS contracts ITEMS ${file})
    string(REPLACE ".lua" "" contract ${contract})
    foreach(section IN ITEMS KEYS ARGV)
      read_rows(${folder} ${contract} ${section} rows)
      list(TRANSFORM rows REPLACE "[.].*" "")  # of line.order, `line`; of ids..., `ids`
      list(APPEND names ${rows})
    endforeach()
  endforeach()
  message("${names}")
endforeach()
