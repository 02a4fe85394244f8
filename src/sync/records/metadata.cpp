// for_each_member() lists all members that a holder writes. Writer and Reader visit it, so what one writes the other
// reads; Size counts what they take. A text of a holder may come from anywhere. So Writer cuts it and hides passwords,
// and Reader leaves out what has another type. What the history of a key takes over of them stands in history.cpp, and
// what people see in JSON in inspection_json.cpp and history_text.cpp.

#include "sync/records/metadata.h"

#include <unistd.h>

#include <concepts>
#include <type_traits>

#include "base/ancestry.h"
#include "base/environment.h"
#include "base/identity.h"
#include "base/text.h"
#include "scripts.h"
#include "sync/calls/arguments.h"
#include "sync/calls/keys.h"
#include "sync/calls/record_json.h"

namespace rlock {
namespace {

/// Longer texts are cut, because every renewal carries them.
constexpr std::size_t kLongestText = 1000;

/// At most this many holds of outer runs are recorded.
constexpr std::size_t kMostHolds = 16;

/// The innermost holds: [["key", "owner"], ...].
std::string holds_json(const std::vector<OuterHold>& holds) {
  const std::size_t first = holds.size() > kMostHolds ? holds.size() - kMostHolds : 0;
  std::string all = "[";
  for (std::size_t i = first; i < holds.size(); ++i)
    all += (all.size() > 1 ? ",[" : "[") + as_json(utf8(holds[i].key.str())) + "," +
           as_json(utf8(holds[i].owner.str())) + "]";
  return all + "]";
}

/// How a member that a holder does not have is written.
enum class IfUnset { null, left_out };

/// Calls `visit` with the name and the value of each member that the holder writes, in the order of the JSON text.
template <class Facts, class Visit>
void for_each_member(Facts& facts, Visit visit) {
  visit("host", facts.host);
  visit("pid", facts.pid);
  visit("user", facts.user);
  visit("command", facts.command);
  visit("reason", facts.reason);
  visit("labels", facts.labels);
  visit("url", facts.url);
  visit("renews", facts.renews);
  visit("exit", facts.exit);
  visit("type", facts.type, IfUnset::left_out);
  visit("kept_by", facts.kept_by, IfUnset::left_out);
  visit("started", facts.started, IfUnset::left_out);
  visit("pid_space", facts.pid_space, IfUnset::left_out);
  visit("kill_after_ms", facts.kill_after, IfUnset::left_out);
  visit("first_lease_ms", facts.first_lease, IfUnset::left_out);
  visit("holds", facts.holds, IfUnset::left_out);
}

/// Writes one member. Texts are cut, and passwords are hidden in them.
struct Writer {
  JsonObject& json;

  void operator()(std::string_view name, const std::string& text, IfUnset unset = IfUnset::null) const {
    if (text.empty() && unset == IfUnset::left_out) return;
    const bool is_id = name == "pid_space";  // a redaction could change its digits
    json.add(name, is_id ? text : brief(text, kLongestText));
  }
  void operator()(std::string_view name, const std::optional<std::string>& text) const {
    json.add(name, brief_or_null(text, kLongestText));
  }
  void operator()(std::string_view name, std::integral auto number) const { json.add(name, number); }
  template <std::integral Number>
  void operator()(std::string_view name, const std::optional<Number>& number,
                  IfUnset unset = IfUnset::null) const {
    if (number || unset == IfUnset::null) json.add(name, number);
  }
  void operator()(std::string_view name, const std::optional<Milliseconds>& duration, IfUnset) const {
    if (duration) json.add(name, duration->count());
  }
  void operator()(std::string_view name, const std::map<std::string, std::string>& texts) const {
    JsonObject object;
    for (const auto& [key, text] : texts) object.add(brief(key, kLongestText), brief(text, kLongestText));
    json.add_json(name, object.str());
  }
  void operator()(std::string_view name, const std::vector<OuterHold>& holds, IfUnset) const {
    if (!holds.empty()) json.add_json(name, holds_json(holds));
  }
};

/// Reads one member. A value of another type is left out.
struct Reader {
  const RecordJson& json;

  void operator()(const char* name, std::string& text, IfUnset = IfUnset::null) const {
    text = text_at(json, name).value_or("");
  }
  void operator()(const char* name, std::optional<std::string>& text) const { text = text_at(json, name); }
  void operator()(const char* name, std::int64_t& number) const {
    number = number_at(json, name).value_or(0);
  }
  void operator()(const char* name, bool& truth) const {
    if (const auto found = json.find(name); found != json.end() && found->is_boolean())
      truth = found->get<bool>();
  }
  void operator()(const char* name, std::optional<int>& status) const {
    if (const auto number = number_at(json, name); number && *number <= 255)
      status = static_cast<int>(*number);
  }
  void operator()(const char* name, std::optional<std::int64_t>& number, IfUnset) const {
    number = number_at(json, name);
  }
  void operator()(const char* name, std::optional<Milliseconds>& duration, IfUnset) const {
    if (const auto number = number_at(json, name)) duration = Milliseconds{*number};
  }
  void operator()(const char* name, std::map<std::string, std::string>& texts) const {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_object()) return;
    for (const auto& [key, value] : found->items()) {
      if (value.is_string()) texts[key] = value.template get<std::string>();
    }
  }
  void operator()(const char* name, std::vector<OuterHold>& holds, IfUnset) const {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_array()) return;
    for (const RecordJson& hold : *found) {
      const bool is_one = hold.is_array() && hold.size() == 2 && hold[0].is_string() && hold[1].is_string();
      if (is_one && holds.size() < kMostHolds)
        holds.push_back({LockName{hold[0].get<std::string>()}, Owner{hold[1].get<std::string>()}});
    }
  }
};

/// Counts the memory of one member, besides that of the Metadata itself.
struct Size {
  std::size_t& bytes;

  void operator()(const char*, const std::string& text, IfUnset = IfUnset::null) const {
    bytes += text.size();
  }
  void operator()(const char*, const std::optional<std::string>& text) const {
    if (text) bytes += text->size();
  }
  void operator()(const char*, const std::map<std::string, std::string>& texts) const {
    for (const auto& [key, text] : texts) bytes += key.size() + text.size();
  }
  void operator()(const char*, const std::vector<OuterHold>& holds, IfUnset) const {
    for (const OuterHold& hold : holds)
      bytes += sizeof hold + hold.key.str().size() + hold.owner.str().size();
  }
  template <class Value>
    requires std::is_trivially_copyable_v<Value>  // a number or a duration, which has no other memory
  void operator()(const char*, const Value&, IfUnset = IfUnset::null) const {}
};

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

Values values_of(const LockName& name, const Owner& owner, const HoldEntry& entry) {
  Values all{{Parameter::meta, metadata_key(name)},
             {Parameter::held, entry.key},
             {Parameter::owner, owner.str()},
             {Parameter::member, entry.member}};
  append(all, entry.waiting);
  return all;
}

}  // namespace

std::size_t bytes_of(const Metadata& facts) {
  std::size_t bytes = 0;
  for_each_member(facts, Size{bytes});
  return bytes;
}

Metadata about_us(std::string_view command) {
  Metadata facts;
  facts.host = host_name();
  facts.user = user_name();
  facts.command = base_name(command);
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
                    const Metadata& facts, Hold hold) {
  JsonObject json;
  for_each_member(facts, Writer{json});
  Values all = values_of(name, owner, entry);
  append(all, {{Parameter::lease, in_ms(lease)},
               {Parameter::facts, json.str()},
               {Parameter::ended, facts.exit ? "1" : "0"},
               {Parameter::inner, hold == Hold::inner ? "1" : "0"}});
  return call_of(scripts::meta_write, std::move(all));
}

Call erase_metadata(const LockName& name, const Owner& owner, const HoldEntry& entry, Values end) {
  append(end, values_of(name, owner, entry));
  end.emplace_back(Parameter::history, metadata_key(name));  // without `end` the script does not use this key
  return call_of(scripts::meta_erase, std::move(end));
}

Call erase_all_metadata(const LockName& pool) {
  return call_of(scripts::meta_erase_all,
                 {{Parameter::meta, metadata_key(pool)}, {Parameter::held, taken_key(pool)}});
}

std::optional<Metadata> of_present_holder(Metadata facts, ServerTime now) {
  if (facts.ended_at && facts.renewed + facts.lease < now) return std::nullopt;
  return facts;
}

std::optional<Metadata> parse_metadata(std::string_view json) {
  const std::optional<RecordJson> object = parse_object(json);
  if (!object) return std::nullopt;
  Metadata facts;
  for_each_member(facts, Reader{*object});
  // The others are the script's.
  facts.since = time_at(*object, "since").value_or(ServerTime{});
  facts.renewed = time_at(*object, "renewed").value_or(ServerTime{});
  facts.lease = Milliseconds{number_at(*object, "lease_ms").value_or(0)};
  facts.ended_at = time_at(*object, "ended_at");
  Reader{*object}("inner", facts.inner);
  return facts;
}

}  // namespace rlock
