#pragma once

#include <memory>

#include "cmd/cli/verb.h"

namespace rlock {

// The verbs of this folder; those that run a command stand in cmd/run/run_verbs.h. The file that has a verb is
// named after it or after its noun; the table in verbs.cpp gives each its name.
std::unique_ptr<Verb> lock_acquire_verb();
std::unique_ptr<Verb> lock_release_verb();
std::unique_ptr<Verb> lock_renew_verb();
std::unique_ptr<Verb> lock_status_verb();
std::unique_ptr<Verb> lock_wait_verb();
std::unique_ptr<Verb> permit_init_verb();
std::unique_ptr<Verb> permit_add_verb();
std::unique_ptr<Verb> permit_acquire_verb();
std::unique_ptr<Verb> permit_release_verb();
std::unique_ptr<Verb> permit_renew_verb();
std::unique_ptr<Verb> permit_status_verb();
std::unique_ptr<Verb> permit_delete_verb();
std::unique_ptr<Verb> sem_init_verb();
std::unique_ptr<Verb> sem_acquire_verb();
std::unique_ptr<Verb> sem_release_verb();
std::unique_ptr<Verb> sem_add_verb();
std::unique_ptr<Verb> sem_drain_verb();
std::unique_ptr<Verb> sem_status_verb();
std::unique_ptr<Verb> sem_delete_verb();
std::unique_ptr<Verb> latch_set_verb();
std::unique_ptr<Verb> latch_down_verb();
std::unique_ptr<Verb> latch_wait_verb();
std::unique_ptr<Verb> latch_status_verb();
std::unique_ptr<Verb> latch_delete_verb();
std::unique_ptr<Verb> list_verb();
std::unique_ptr<Verb> metrics_verb();
std::unique_ptr<Verb> top_verb();
std::unique_ptr<Verb> inspect_verb();
std::unique_ptr<Verb> history_verb();
std::unique_ptr<Verb> stop_verb();
std::unique_ptr<Verb> unlock_verb();
std::unique_ptr<Verb> config_verb();
std::unique_ptr<Verb> doctor_verb();
std::unique_ptr<Verb> server_start_verb();
std::unique_ptr<Verb> server_stop_verb();
std::unique_ptr<Verb> server_status_verb();
std::unique_ptr<Verb> scripts_list_verb();
std::unique_ptr<Verb> scripts_show_verb();
std::unique_ptr<Verb> scripts_load_verb();
std::unique_ptr<Verb> completion_bash_verb();
std::unique_ptr<Verb> completion_zsh_verb();
std::unique_ptr<Verb> completion_fish_verb();
std::unique_ptr<Verb> complete_verb();
std::unique_ptr<Verb> help_verb();
std::unique_ptr<Verb> version_verb();

}  // namespace rlock
