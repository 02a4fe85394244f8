#include "cmd/server/verb.h"

#include <fmt/format.h>

#include <algorithm>

#include "cmd/server/key_options.h"

namespace rlock {
namespace {

/// "lock status [OPTIONS] KEY"
std::string usage_of(const VerbEntry& entry, const VerbSpec& spec) {
  std::string usage{entry.name};
  const bool own_options =
      std::ranges::any_of(spec.groups, [](const auto& group) { return !group.elsewhere; });
  if (own_options || (entry.takes & takes::server) != 0) usage += " [OPTIONS]";
  for (const Operand& operand : spec.operands) {
    const std::string words = fmt::format("{}{}", operand.name, operand.many ? "..." : "");
    usage += operand.optional ? fmt::format(" [{}]", words) : " " + words;
  }
  return usage;
}

/// "Exit status: 0 done, 1 there is no latch; 64 usage, ..."
std::string exit_statuses(const VerbEntry& entry) {
  std::string_view errors = entry.errors;
  if (errors.empty() && (entry.takes & takes::server) != 0) {
    const bool meets_other_types = (entry.takes & (takes::key | takes::counter | takes::keys)) != 0;
    errors = meets_other_types ? "64 usage, 65 other type, 69 no server, 77 denied, 78 configuration"
                               : kErrorsOfServer;
  }
  return fmt::format("Exit status: {}{}{}.", entry.exits, errors.empty() ? "" : "; ", errors);
}

}  // namespace

std::unique_ptr<Verb> VerbEntry::make() const {
  auto verb = create();
  verb->entry_ = this;
  return verb;
}

const VerbSpec& Verb::spec() {
  if (spec_) return *spec_;
  const unsigned taken = entry_->takes;
  VerbSpec& spec = spec_.emplace(VerbSpec{.verb = entry_->name});
  if ((taken & takes::key) != 0) declare_key(spec, key_);
  if ((taken & takes::counter) != 0) declare_key(spec, key_, Offer::counter);
  if ((taken & takes::keys) != 0) declare_keys(spec, keys_);
  if ((taken & takes::counters) != 0) declare_counters(spec, keys_);
  declare(spec);
  if ((taken & takes::json) != 0) declare_json(spec, json_);
  if ((taken & takes::wait) != 0) declare_wait(spec, wait_);
  if ((taken & takes::server) != 0) declare_server_options(spec, server_);
  if (spec.find("quiet") == nullptr) declare_verbosity_elsewhere(spec);
  if (spec.usage.empty()) spec.usage.push_back(usage_of(*entry_, spec));
  if (!entry_->exits.empty()) spec.notes += exit_statuses(*entry_);
  return spec;
}

}  // namespace rlock
