#pragma once

#include "cmd/server/server_setting.h"

namespace rlock {

/// Declares the options of the server, which write into `options`. Declares -q and -v, too, if they are not
/// declared yet.
void declare_server_options(VerbSpec& spec, ServerOptions& options);

/// Declare -q and -v. `options` notes for `rlock config` that they were typed; it may be null. The second function is
/// for a verb without a server: its --help does not show them.
void declare_verbosity(VerbSpec& spec, ServerOptions* options = nullptr);

/// -q and -v of a verb whose output depends on them. `quiet` and `verbose` have the texts.
void declare_verbosity(VerbSpec& spec, Option quiet, Option verbose);
void declare_verbosity_elsewhere(VerbSpec& spec);

}  // namespace rlock
