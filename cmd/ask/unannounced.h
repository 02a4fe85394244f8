#pragma once

#include <string>
#include <string_view>

namespace rlock {

/// Warns that an operation could not wake up the waiters. `done`: the operation, for example "released
/// 'deploy'". `why`: the reason; if it is empty, prints nothing.
void say_unannounced(std::string_view done, const std::string& why);

}  // namespace rlock
