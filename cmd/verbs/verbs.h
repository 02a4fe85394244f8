#pragma once

#include "cmd/server/verb.h"

namespace rlock {

// The verbs of this folder, by file. Verbs that run a command are in cmd/run/run_verbs.h.
// cmd/app/verb_table.cpp puts them in order.
VerbRows lock_acquire_verbs();
VerbRows lock_verbs();
VerbRows lock_wait_verbs();
VerbRows permit_verbs();
VerbRows sem_verbs();
VerbRows latch_verbs();
VerbRows list_verbs();
VerbRows metrics_verbs();
VerbRows top_verbs();
VerbRows inspect_verbs();
VerbRows history_verbs();
VerbRows stop_verbs();
VerbRows unlock_verbs();
VerbRows config_verbs();
VerbRows doctor_verbs();
VerbRows server_verbs();
VerbRows scripts_verbs();

}  // namespace rlock
