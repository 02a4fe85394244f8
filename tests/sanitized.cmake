# The tests again, with an rlock that has AddressSanitizer and UndefinedBehaviorSanitizer: cmake --workflow --preset asan,
# then ctest --test-dir build/dev -C Sanitized -R lease.
#
# Only the code of rlock is compiled again. The objects of the tests are the same, and are linked behind it. If both
# contain a template, the linker takes the first one, which is instrumented.

function(sanitized_program target name)
  add_executable(${target} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:rlock_sanitized> ${ARGN})
  target_link_libraries(${target} PRIVATE rlock_support rlock_cmd)
  target_compile_options(${target} PRIVATE ${sanitizers})
  # A position-independent program takes longer to start, because the data of the checks is full of addresses to relocate.
  target_link_options(${target} PRIVATE ${sanitizers} -no-pie)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/sanitized)
endfunction()

sanitized_program(rlock_sanitized_run rlock ${PROJECT_SOURCE_DIR}/cmd/main.cpp)
sanitized_program(rlock_sanitized_tests rlock_tests $<TARGET_OBJECTS:rlock_test_objects>)
sanitized_program(rlock_sanitized_faults rlock_faults $<TARGET_OBJECTS:rlock_fault_objects>)
add_custom_target(sanitized DEPENDS rlock_sanitized_run rlock_sanitized_tests rlock_sanitized_faults)

# CI runs those with the label `brief`, in which sanitizers find most: the tests of classes, and tests with hostile servers, users
# and data. The long profile runs all.
string(CONCAT brief "^(hostile.*|misshapen_.*answers|large_keys|run|lock_command|command_process|usage_hints|forced_removal|"
                    "fuzz|corpus|faults-lost_answers)$")

foreach(source IN LISTS test_sources fault_sources)
  get_filename_component(name ${source} NAME_WE)
  if(NOT name MATCHES "^(.*)_test$")
    continue()
  endif()
  set(name ${CMAKE_MATCH_1})
  set(filter "--source-file=*/${name}_test.cpp")
  room_of(${source} folder)
  set(program tests)
  if(folder STREQUAL "faults")
    set(name faults-${name})
    set(program faults)
  endif()
  set(labels sanitized)
  if(folder MATCHES "^(base|loop|process|family|redis|sync|cmd)$" OR name MATCHES "${brief}")
    list(APPEND labels brief)
  endif()
  get_test_property(${name} COST cost)
  add_test(NAME sanitized.${name} CONFIGURATIONS Sanitized COMMAND rlock_sanitized_${program} ${filter})
  set_tests_properties(sanitized.${name} PROPERTIES
    COST ${cost} TIMEOUT 2700 LABELS "${labels}"  # sanitizers take three times as long
    SKIP_RETURN_CODE 77
    ENVIRONMENT "RLOCK_BINARY=${PROJECT_BINARY_DIR}/sanitized/rlock;RLOCK_PROGRAMS=${PROJECT_BINARY_DIR};RLOCK_TEST_TIMEOUT=2700"
    FAIL_REGULAR_EXPRESSION "test cases: +0 ")
  apply_row(sanitized.${name} sanitized.${name})
endforeach()
