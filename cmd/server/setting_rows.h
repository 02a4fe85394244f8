#pragma once

#include <string>
#include <vector>

#include "cmd/server/settings.h"

namespace rlock {

/// A setting in force. No secret.
struct SettingRow {
  std::string name, value, from;
};

/// Every one of them that somebody has said, or that has a default, with the environment's password.
std::vector<SettingRow> setting_rows(const ServerOptions& flags, const std::vector<Settings>& sources);

}  // namespace rlock
