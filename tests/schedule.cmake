# When a test starts, whether it runs alone, and labels that its folder does not give it. Also which tests depend on rights, and
# which read files of the project.
#
# A test with a higher cost starts earlier. Tests that start no server come first: they take milliseconds, and show most
# mistakes. The longest come next, so that ctest does not wait for them at the end.
#
# A row "any-..." is for all tests of a kind: see rlock_test(). The row of a test comes on top of it; "-": as the kind.

macro(schedule test cost alone labels)  # the last argument is the reason
  list(APPEND scheduled ${test})
  set(${test}.cost ${cost})
  set(${test}.alone ${alone})
  set(${test}.labels ${labels})
endmacro()

#        test                     cost alone labels           why
schedule(any-class                 100 -     ""               "It starts no server and no rlock.")
schedule(any-script                 50 -     ""               "One of tests/*.sh: it takes half a second.")
schedule(any-fault                  20 -     "faults;server"  "It takes up to half a minute.")
schedule(any-server                 10 -     "server"         "It starts a server or rlock. tests/matrix runs these tests.")
schedule(any-interop                30 -     "interop"        "It takes half a minute.")

schedule(misshapen_answers          40 -     ""               "It takes a minute.")
schedule(misshapen_verb_answers     40 -     ""               "It takes a minute and a half.")
schedule(misshapen_inner_answers    30 -     ""               "It takes half a minute.")
schedule(missing_shard              40 -     ""               "It takes two minutes.")
schedule(faults-server_states       40 -     ""               "It takes a minute.")
schedule(faults-holding             30 -     ""               "It takes a minute and a half.")
schedule(faults-crowd               30 -     ""               "It takes a minute.")
schedule(echoed_password            30 -     ""               "It takes half a minute.")
schedule(several_servers            40 -     ""               "It takes a minute.")
schedule(stop_command               40 -     ""               "It takes a minute.")
schedule(list_command               40 -     ""               "It takes a minute.")
schedule(nesting                    30 -     ""               "It takes half a minute.")
schedule(stopping                   30 -     ""               "It takes half a minute.")
schedule(script_keeper              30 -     ""               "It takes half a minute.")
schedule(killed_run                 30 -     ""               "It takes half a minute.")
schedule(lost_replies               30 -     ""               "It takes half a minute.")
schedule(redlock                    30 -     ""               "It takes half a minute.")
schedule(multi_command              30 -     ""               "It takes half a minute.")
schedule(contention                 30 -     ""               "It takes 20 seconds.")
schedule(server_refusals            30 -     ""               "It takes 20 seconds.")
schedule(deployments                30 -     ""               "It takes 15 seconds.")
schedule(run_types                  30 -     ""               "It takes 15 seconds.")
schedule(witness                    10 -     ""               "It starts a crowd, but no server.")

schedule(interop_redisson            1 alone ""               "200 ms decide whether a waiter was woken.")
schedule(supervision                30 alone ""               "Some 100 ms decide, and sessions share the processor (autogroup).")
schedule(large_keys                  5 alone ""               "It measures scripts; only root has real-time priority for that.")
schedule(sanitized.large_keys       40 -     ""               "It takes two minutes. Its limit is twice as long, so it runs beside others.")
schedule(hostile_server             30 -     ""               "It takes half a minute.")
schedule(sanitized.hostile_server    - alone ""               "It floods the machine with bytes.")
schedule(script_family               - alone ""               "It floods the machine with processes.")
schedule(forking_script              - alone ""               "It floods the machine with processes.")

schedule(faults-wait                30 -     "rights"         "It makes a mount namespace.")
schedule(tls_linked                 10 -     "redis;server"   "It starts a server.")
schedule(explorer                   30 -     "model"          "It takes half a minute.")
schedule(fleet                      30 -     "model"          "It takes some seconds.")
schedule(fleet_of_a_cluster         30 -     "model"          "It takes some seconds.")
schedule(store                      10 -     "model;server"   "It starts a server.")
schedule(chaos                      30 -     "chaos;rights"   "It takes half a minute.")
schedule(chaos_on_loopback          30 -     "chaos;rights"   "It takes some seconds.")
schedule(chaos_checker             100 -     "chaos;rights"   "It starts no server and no rlock.")
schedule(recipes_pipelines          30 -     "recipes;rights" "It takes some seconds.")
schedule(recipes_containers         30 -     "recipes;rights" "It takes some seconds.")
schedule(recipes_validate           30 -     "recipes;rights" "It takes a second.")
schedule(recipes_booted             30 -     "recipes;rights" "It boots a system.")
schedule(recipes_crond              30 -     "recipes;rights" "With RLOCK_LONG=1 it takes a minute.")
schedule(recipes_fencing            30 -     "recipes;rights" "It takes 15 seconds.")
schedule(recipes_runners            30 -     "recipes;rights" "It starts the runners of pipelines.")
schedule(schemas                    20 -     "binary;server" "It takes some seconds.")
schedule(site                       20 -     ""               "It starts a browser.")

# The tests of *_test.cpp that depend on a user, a namespace, a capability or another right. They have the label `rights`, too.
set(by_rights
  acquire_output command_family command_process config frozen_run guardian held_command killed_keeper killed_run local
  local_directory lost_lock nesting no_proc rights sandbox script_family script_keeper script_owner script_user secrets settings
  status_output stopping suspend usage_hints while_pid)

# The tests that read files of the project itself. Only they get its path, as RLOCK_SOURCE_FOLDER, because a path in the command
# line defeats compiler caches.
set(by_project_files
  access_rights completion corpus faults-server_states forced_removal hostile_completion manual messages recipes schema
  text_figures)

# The headers of tests/support that show that a test starts a server or rlock: it includes one of them.
set(starting redis_server|cli)
file(GLOB support_headers CONFIGURE_DEPENDS support/*.h)
foreach(header IN LISTS support_headers)
  file(STRINGS ${header} uses REGEX "support/(redis_server|cli)\\.h" LIMIT_COUNT 1)
  if(uses)
    get_filename_component(name ${header} NAME_WE)
    string(APPEND starting "|${name}")
  endif()
endforeach()

# Sets `into` to the first folder below tests/ of this source.
function(room_of source into)
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests)
  string(REGEX MATCH "^[^/]+" room ${source})
  set(${into} ${room} PARENT_SCOPE)
endfunction()

# Says what a test of *_test.cpp is, by its source and by the list by_rights. Sets two variables of the caller:
#   kind    `server` if the test starts a server or rlock, else `class`
#   labels  its first folder below tests/, and `rights` if the list has it
function(classify source test)
  file(STRINGS ${source} starts REGEX "support/(${starting})\\.h" LIMIT_COUNT 1)
  set(kind class)
  if(starts)
    set(kind server)
  endif()
  room_of(${source} labels)
  # The list decides, because a helper function may hide from this expression what a test does.
  file(STRINGS ${source} needs REGEX "get[eu]+id|unshare|setpriv|prlimit|ulimit|mknod|chown|cgroup|PR_SET|CAP_" LIMIT_COUNT 1)
  if(test IN_LIST by_rights)
    list(APPEND labels rights)  # .ci/run runs these again without rights
  elseif(needs)
    message(FATAL_ERROR "${source} seems to depend on rights: add ${test} to by_rights in tests/schedule.cmake. It says: ${needs}")
  endif()
  set(kind ${kind} PARENT_SCOPE)
  set(labels ${labels} PARENT_SCOPE)
endfunction()

# Gives RLOCK_SOURCE_FOLDER to the source of a test in the list by_project_files. Fails if the source and the list disagree.
function(give_project_folder source test)
  file(STRINGS ${source} uses REGEX RLOCK_SOURCE_FOLDER LIMIT_COUNT 1)
  if(test IN_LIST by_project_files)
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS RLOCK_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}")
    if(NOT uses)
      message(FATAL_ERROR "${source} does not use RLOCK_SOURCE_FOLDER: remove ${test} from by_project_files in tests/schedule.cmake")
    endif()
  elseif(uses)
    message(FATAL_ERROR "${source} uses RLOCK_SOURCE_FOLDER: add ${test} to by_project_files in tests/schedule.cmake")
  endif()
endfunction()

# Gives a test what a row says, if there is this row.
function(apply_row test row)
  if(NOT row IN_LIST scheduled)
    return()
  endif()
  if(NOT ${${row}.cost} STREQUAL -)
    set_tests_properties(${test} PROPERTIES COST ${${row}.cost})
  endif()
  if(${${row}.alone} STREQUAL alone)
    set_tests_properties(${test} PROPERTIES RUN_SERIAL ON)
  endif()
  set_property(TEST ${test} APPEND PROPERTY LABELS ${${row}.labels})
endfunction()

# Fails if a row or one of the lists names no test. Call it after the last test.
function(check_schedule)
  foreach(test IN LISTS scheduled by_rights by_project_files)
    if(NOT TEST ${test} AND NOT test MATCHES "^any-")
      message(FATAL_ERROR "tests/schedule.cmake names ${test}, which is no test")
    endif()
  endforeach()
endfunction()
