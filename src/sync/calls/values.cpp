#include "sync/calls/values.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "scripts.h"
#include "sync/calls/keys.h"

namespace rlock {
namespace {

std::vector<std::string> in_order(const Script& script, const Script::Parameters& names, std::size_t required,
                                  Values& values) {
  std::vector<std::string> all;
  bool gap = false;
  for (const Parameter name : names) {
    if (name == Parameter::none) break;
    const auto value = std::ranges::find(values, name, &Values::value_type::first);
    const bool given = value != values.end();
    // A value behind a gap would take the position of the missing one.
    if (given ? gap : all.size() < required)
      throw Error{Error::internal,
                  fmt::format("{} is called without its key or argument {}", script.name, all.size() + 1)};
    if (given) all.push_back(std::move(value->second));
    gap = !given;
  }
  return all;
}

}  // namespace

Call call_of(const Script& script, Values values) {
  return {.script = &script,
          .keys = in_order(script, script.keys, script.required_keys, values),
          .args = in_order(script, script.args, script.required_args, values)};
}

Call call_with(const Call& call, const Script& script, Values more) {
  for (std::size_t i = 0; i < call.keys.size(); ++i) more.emplace_back(call.script->keys[i], call.keys[i]);
  for (std::size_t i = 0; i < call.args.size(); ++i) more.emplace_back(call.script->args[i], call.args[i]);
  return call_of(script, std::move(more));
}

const std::string& value_of(const Values& values, Parameter name) {
  return std::ranges::find(values, name, &Values::value_type::first)->second;
}

Values line_values(const LockName& name) {
  const std::vector<std::string> keys = line_keys(name);
  return {
      {Parameter::line_order, keys[0]}, {Parameter::line_waiters, keys[1]}, {Parameter::line_facts, keys[2]}};
}

Values queue_values(const LockName& name) {
  const std::vector<std::string> keys = fair_queue_keys(name);
  return {{Parameter::queue_order, keys[0]},
          {Parameter::queue_deadlines, keys[1]},
          {Parameter::queue_alive, keys[2]}};
}

}  // namespace rlock
