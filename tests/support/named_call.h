#pragma once

#include <string_view>

#include "redis/call.h"

namespace rlock::test {

/// The script with this name. Throws std::invalid_argument if there is none.
const Script& script_named(std::string_view name);

/// Makes a call of a line with the name of a script and its values, by the names of its contract:
/// "lock/release line request way=again".
///
/// - `name=value` gives a value; '' is an empty one.
/// - `name` gives the usual value of this name. Whatever the contract demands has it, too.
/// - `-name` leaves this name out, and all behind it: the call is shorter than the contract demands.
/// - `line` and `queue` are three keys each: `line=l,w,f`.
/// - A list is given by its name: `ids=x,y`.
///
/// A script for several locks gets two calls for each lock, the one that acquires and the one that undoes it:
/// "multi/lock lock/acquire lock=a | lock/release lock=a". With the word `undo` before them, it undoes all.
///
/// Throws std::invalid_argument if the contract has no such name, or a name has no usual value.
Call named_call(std::string_view line);

}  // namespace rlock::test
