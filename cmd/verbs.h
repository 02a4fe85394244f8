#pragma once

#include <memory>

#include "cmd/verb.h"

namespace rlock {

// One per file of cmd/; the table in cmd/verbs.cpp gives each its name.
std::unique_ptr<Verb> run_verb();
std::unique_ptr<Verb> lock_acquire_verb();
std::unique_ptr<Verb> lock_release_verb();
std::unique_ptr<Verb> lock_renew_verb();
std::unique_ptr<Verb> lock_status_verb();
std::unique_ptr<Verb> inspect_verb();
std::unique_ptr<Verb> unlock_verb();
std::unique_ptr<Verb> server_start_verb();
std::unique_ptr<Verb> server_stop_verb();
std::unique_ptr<Verb> server_status_verb();
std::unique_ptr<Verb> scripts_list_verb();
std::unique_ptr<Verb> scripts_show_verb();
std::unique_ptr<Verb> scripts_load_verb();
std::unique_ptr<Verb> completion_bash_verb();
std::unique_ptr<Verb> completion_zsh_verb();
std::unique_ptr<Verb> completion_fish_verb();

}  // namespace rlock
