#include "sync/watch/metadata.h"

#include <unistd.h>

#include <cstdlib>

#include "base/ancestry.h"
#include "base/environment.h"
#include "base/identity.h"
#include "base/text.h"
#include "scripts.h"
#include "sync/kinds/arguments.h"
#include "sync/kinds/keys.h"
#include "sync/watch/metadata_json.h"

namespace rlock {
namespace {

using Json = MetadataJson;

/// Longer texts are cut, because every renewal carries them.
constexpr std::size_t kLongestText = 1000;

/// At most this many holds of outer runs are recorded.
constexpr std::size_t kMostHolds = 16;

/// The innermost holds: [["key", "owner"], ...].
std::string holds_json(const std::vector<HeldKey>& holds) {
  const std::size_t first = holds.size() > kMostHolds ? holds.size() - kMostHolds : 0;
  std::string all = "[";
  for (std::size_t i = first; i < holds.size(); ++i)
    all += (all.size() > 1 ? ",[" : "[") + as_json(utf8(holds[i].key.str())) + "," +
           as_json(utf8(holds[i].owner.str())) + "]";
  return all + "]";
}

std::vector<HeldKey> holds_in(const Json& facts) {
  std::vector<HeldKey> holds;
  const auto found = facts.find("holds");
  if (found == facts.end() || !found->is_array()) return holds;
  for (const Json& hold : *found) {
    const bool is_one = hold.is_array() && hold.size() == 2 && hold[0].is_string() && hold[1].is_string();
    if (is_one && holds.size() < kMostHolds)
      holds.push_back({LockName{hold[0].get<std::string>()}, Owner{hold[1].get<std::string>()}});
  }
  return holds;
}

std::optional<std::string> ci_job() {
  for (const char* name : {"CI_JOB_URL", "BUILD_URL", "BUILDKITE_BUILD_URL"}) {
    if (auto url = environment_variable(name)) return url;
  }
  const auto server = environment_variable("GITHUB_SERVER_URL");
  const auto repository = environment_variable("GITHUB_REPOSITORY");
  const auto run = environment_variable("GITHUB_RUN_ID");
  if (!server || !repository || !run) return std::nullopt;
  return *server + "/" + *repository + "/actions/runs/" + *run;
}

Milliseconds duration_at(const Json& facts, const char* name) {
  return Milliseconds{number_at(facts, name).value_or(0)};
}

Values values_of(const LockName& name, const Owner& owner, const HoldEntry& entry) {
  Values all{{Parameter::meta, metadata_key(name)},
             {Parameter::held, entry.key},
             {Parameter::owner, owner.str()},
             {Parameter::member, entry.member}};
  if (!entry.waiting.empty())
    append(all, {{Parameter::alive, entry.waiting.front()}, {Parameter::waits, entry.waiting.back()}});
  return all;
}

}  // namespace

Metadata about_us(std::string_view command) {
  Metadata facts;
  facts.host = host_name();
  facts.user = user_name();
  facts.command = command.substr(command.rfind('/') + 1);
  facts.pid = ::getpid();
  if (const auto process = process_of(facts.pid)) facts.started = process->started;
  facts.pid_space = pid_space();
  facts.url = ci_job();
  return facts;
}

bool names_ancestor(const Metadata& facts) {
  if (!facts.started || facts.host != host_name()) return false;
  if (facts.pid_space.empty() || facts.pid_space != pid_space()) return false;
  const auto process = process_of(facts.pid);
  return process && process->started == *facts.started && is_ancestor(facts.pid);
}

Call write_metadata(const LockName& name, const Owner& owner, const HoldEntry& entry, Milliseconds lease,
                    const Metadata& facts) {
  JsonObject labels;
  for (const auto& [key, value] : facts.labels)
    labels.add(brief(key, kLongestText), brief(value, kLongestText));
  JsonObject json;
  json.add("host", brief(facts.host, kLongestText))
      .add("pid", facts.pid)
      .add("user", brief(facts.user, kLongestText))
      .add("command", brief(facts.command, kLongestText))
      .add("reason", brief_or_null(facts.reason, kLongestText))
      .add_json("labels", labels.str())
      .add("url", brief_or_null(facts.url, kLongestText))
      .add("renews", facts.renews)
      .add("exit", facts.exit);
  if (!facts.type.empty()) json.add("type", brief(facts.type, kLongestText));
  if (!facts.kept_by.empty()) json.add("kept_by", brief(facts.kept_by, kLongestText));
  if (facts.started) json.add("started", *facts.started);
  if (!facts.pid_space.empty()) json.add("pid_space", facts.pid_space);
  if (facts.kill_after) json.add("kill_after_ms", facts.kill_after->count());
  if (!facts.holds.empty()) json.add_json("holds", holds_json(facts.holds));
  Values all = values_of(name, owner, entry);
  append(all, {{Parameter::lease, std::to_string(lease.count())},
               {Parameter::facts, json.str()},
               {Parameter::ended, facts.exit ? "1" : "0"}});
  return call_of(scripts::meta_write, std::move(all));
}

Call erase_metadata(const LockName& name, const Owner& owner, const HoldEntry& entry, Values end) {
  append(end, values_of(name, owner, entry));
  end.emplace_back(Parameter::history, metadata_key(name));  // without `end` the script does not use this key
  return call_of(scripts::meta_erase, std::move(end));
}

std::optional<Metadata> parse_metadata(std::string_view json) {
  const std::optional<Json> object = parse_object(json);
  if (!object) return std::nullopt;
  const Json& read = *object;

  Metadata facts;
  facts.host = text_at(read, "host").value_or("");
  facts.user = text_at(read, "user").value_or("");
  facts.command = text_at(read, "command").value_or("");
  facts.pid = number_at(read, "pid").value_or(0);
  facts.type = text_at(read, "type").value_or("");
  facts.kept_by = text_at(read, "kept_by").value_or("");
  facts.started = number_at(read, "started");
  facts.pid_space = text_at(read, "pid_space").value_or("");
  facts.reason = text_at(read, "reason");
  facts.url = text_at(read, "url");
  if (const auto renews = read.find("renews"); renews != read.end() && renews->is_boolean())
    facts.renews = renews->get<bool>();
  if (const auto exit = number_at(read, "exit"); exit && *exit <= 255) facts.exit = static_cast<int>(*exit);
  if (const auto labels = read.find("labels"); labels != read.end() && labels->is_object()) {
    for (const auto& [key, value] : labels->items()) {
      if (value.is_string()) facts.labels[key] = value.get<std::string>();
    }
  }
  facts.holds = holds_in(read);
  facts.since = duration_at(read, "since");
  facts.renewed = duration_at(read, "renewed");
  facts.lease = duration_at(read, "lease_ms");
  if (const auto kill_after = number_at(read, "kill_after_ms")) facts.kill_after = Milliseconds{*kill_after};
  if (const auto ended = number_at(read, "ended_at")) facts.ended_at = Milliseconds{*ended};
  return facts;
}

}  // namespace rlock
