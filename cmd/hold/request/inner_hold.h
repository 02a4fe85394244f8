#pragma once

#include <optional>

#include "base/names.h"

namespace rlock {

/// A hold inside another hold of its owner. The request that acquired it identifies it. `lock acquire` prints its
/// name, "<owner>#<request>".
struct InnerHold {
  Owner owner;
  RequestId request;
};

/// A new request for such a hold: 16 hexadecimal digits.
RequestId new_inner_request();

/// name_of(): the name of an inner hold. inner_hold_in(): the hold that has this name; empty: it is no such name.
Owner name_of(const InnerHold& hold);
std::optional<InnerHold> inner_hold_in(const Owner& name);

}  // namespace rlock
