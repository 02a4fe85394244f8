#pragma once

#include <string>
#include <vector>

#include "cmd/server/settings.h"

namespace rlock {

/// A setting in force. It contains no secret.
struct SettingInForce {
  std::string name, value, from;
};

/// All settings that a source has set or that have a default, and the source of the password.
std::vector<SettingInForce> settings_in_force(const ServerOptions& flags,
                                              const std::vector<Settings>& sources);

}  // namespace rlock
