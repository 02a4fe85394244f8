// rlock doctor: checks if a server is fit to hold locks, and changes nothing.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/as_given.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/json.h"
#include "cmd/cli/output.h"
#include "cmd/server/session.h"
#include "cmd/verbs/diagnosis.h"
#include "cmd/verbs/verbs.h"
#include "redis/connection/server_identity.h"
#include "redis/failure.h"
#include "redis/route/slots.h"
#include "scripts.h"
#include "sync/calls/answers.h"
#include "sync/calls/keys.h"

namespace rlock {
namespace {

using Verdict = Finding::Verdict;

/// A longer round trip uses up the reserve of the shortest leases.
constexpr Milliseconds kSlow{100};

/// A server to check: a node of the deployment, or a primary of a Cluster.
struct CheckedServer {
  std::string name;
  std::size_t node;
  std::string key;       ///< in a Cluster, a key whose slot this server has
  std::string prefixed;  ///< the same with the prefix; empty: this server has no key with that prefix
  bool cluster = false;
};

/// The findings about one server.
struct Examined {
  std::string server;
  std::vector<Finding> findings;
  std::string run_id;  ///< empty: the server does not tell it

  bool fit() const { return std::ranges::count(findings, Verdict::unfit, &Finding::verdict) == 0; }
};

class Doctor final : public Verb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about = "Check whether a server is fit to hold locks, and print what to change if it is not.";
    spec.examples = {{"rlock doctor", ""}, {"rlock doctor --json | jq -r '.servers[].findings[].text'", ""}};
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_, Session::Access::looks};
    session.ask_all(command({"PING"}));
    std::vector<Examined> servers;
    for (const CheckedServer& checked : checked_servers(session)) {
      servers.push_back(examine(session, checked));
      find_duplicate(servers);
    }
    show(servers);
    return std::ranges::all_of(servers, &Examined::fit) ? exit_code::ok : exit_code::no;
  }

 private:
  static std::vector<CheckedServer> checked_servers(Session& session);
  static Examined examine(Session& session, const CheckedServer& checked);
  static void find_duplicate(std::vector<Examined>& servers);
  void show(const std::vector<Examined>& servers) const;
};

/// `vote`: the answer to inspect/probe. Throws Error{internal} if it is not one: then the server is not Redis.
Finding scripting(const Vote& vote) {
  if (const Reply* reply = vote.good_reply()) {
    const std::string word = word_of(*reply);
    if (word == "able") return {"scripting", Verdict::fit, "scripts run"};
    if (word != "unable") refuse_word("doctor", *reply);
    return {"scripting", Verdict::unfit,
            fmt::format("scripts run, but cannot make a lock: {}",
                        sanitized(failure_of(Reply::error(reply->at(1).text())).text))};
  }
  return {"scripting", Verdict::unfit,
          fmt::format("scripts do not run, and every lock is one: {}", sanitized(vote.why().text))};
}

/// A user with rights for locks alone may not see the settings, and some servers hide them. Then the report must say
/// that they were not checked.
Finding settings(const Vote& said) {
  const bool hidden = said.good_reply() != nullptr;
  if (!hidden && (!said.reply() || said.trouble()->kind != Error::denied))
    return {"settings", Verdict::unfit, sanitized(said.why().text)};
  return {"settings", Verdict::not_looked_at,
          fmt::format("not looked at: {} (eviction, persistence, replicas)",
                      hidden ? "INFO does not show them" : "this user may not ask for INFO")};
}

Finding distance(Milliseconds took) {
  const std::string span = describe(std::max(took, Milliseconds{1}));
  if (took < kSlow) return {"distance", Verdict::fit, fmt::format("it answers within {}", span)};
  return {"distance", Verdict::unfit, fmt::format("it took {} to answer; use long leases (--lease)", span)};
}

/// Asks one node of the deployment only.
Vote ask_at(Session& session, const CheckedServer& checked, Call call,
            Delivery::Source source = Delivery::Source::on_request) {
  if (call.keys.empty() && !checked.key.empty()) call.keys = {checked.key};
  Delivery delivery = with_retries();
  delivery.source = source;
  delivery.send_only_to(checked.node, session.redis.nodes());
  const Vote vote = session.redis.run_all(call, delivery, session.patience())[checked.node];
  session.check_signals();
  return vote;
}

/// Sends the script by its hash, and whole: a user may have the right to EVALSHA or to EVAL alone.
Finding scripting_at(Session& session, const CheckedServer& checked, const Call& probe) {
  Finding by_hash = scripting(ask_at(session, checked, probe));
  if (by_hash.verdict != Verdict::fit) return by_hash;
  return scripting(ask_at(session, checked, probe, Delivery::Source::always));
}

/// In a Cluster, each primary is a server to check.
std::vector<CheckedServer> Doctor::checked_servers(Session& session) {
  std::vector<CheckedServer> all;
  for (std::size_t node = 0; node < session.redis.nodes(); ++node) {
    const CheckedServer whole{.name = session.redis.str(node), .node = node, .key = {}, .prefixed = {}};
    const Target& target = session.deployment.targets[node];
    const bool cluster = target.topology == Target::Topology::cluster;
    const Vote slots = cluster ? ask_at(session, whole, ask_slots()) : Vote{};
    const Reply* const reply = slots.good_reply();
    const auto map = reply != nullptr ? SlotMap::read(*reply, target.addresses.front()) : std::nullopt;
    if (!map || map->empty()) {
      all.push_back(whole);
      continue;
    }
    for (std::string& key : map->key_of_each_node()) {
      const Address* const server = map->node_of(slot_of(key));
      std::string prefixed = session.deployment.prefix + "{" + key + "}";
      // If the prefix has braces, all keys with it lie in one slot.
      if (map->node_of(slot_of(prefixed)) != server) prefixed.clear();
      all.push_back({.name = server != nullptr ? server->str() : target.str(),
                     .node = node,
                     .key = std::move(key),
                     .prefixed = std::move(prefixed),
                     .cluster = true});
    }
  }
  return all;
}

/// If a server does not answer the first call, no other follows: it would only fail again.
Examined Doctor::examine(Session& session, const CheckedServer& checked) {
  Examined examined{.server = checked.name, .findings = {}, .run_id = {}};
  const TimePoint asked = session.now();
  const Vote ping = ask_at(session, checked, command({"PING"}));
  const auto took = std::chrono::duration_cast<Milliseconds>(session.now() - asked);
  if (ping.good_reply() == nullptr) {
    examined.findings.push_back({"answer", Verdict::unfit, sanitized(ping.why().text)});
    return examined;
  }
  const Vote said = ask_at(session, checked, with_large_reply(command({"INFO"})));
  if (said.good_reply() != nullptr) {
    const auto info = parse_info(said.good_reply()->text());
    if (const auto run_id = info.find("run_id"); run_id != info.end()) examined.run_id = run_id->second;
    examined.findings = diagnose(info);
    const Target& target = session.deployment.targets[checked.node];
    if (target.topology == Target::Topology::single && is_cluster_node(info))
      examined.findings.insert(
          examined.findings.begin(),
          {"url", Verdict::unfit, "it " + describe_cluster_node(target.addresses.front(), target.tls.on)});
  }
  if (examined.findings.empty()) examined.findings.push_back(settings(said));
  // The user may have rights for keys with the prefix only.
  const std::string key = checked.cluster ? checked.prefixed : session.name("rlock:doctor").str();
  std::vector<std::string> keys{key};
  // Such a user has rights to rlock's own keys with the prefix, too. For a name with braces they are others.
  if (!session.deployment.prefix.empty() && !key.empty() && key.find('{') == key.npos)
    std::ranges::copy(line_keys(LockName{key}), std::back_inserter(keys));
  examined.findings.push_back(
      key.empty()
          ? Finding{"scripting", Verdict::not_looked_at, "not looked at: no key with this prefix lies here"}
          : scripting_at(session, checked, {.script = &scripts::inspect_probe, .keys = std::move(keys)}));
  examined.findings.push_back(distance(took));
  return examined;
}

/// Is the last server one that was checked before under another name?
void Doctor::find_duplicate(std::vector<Examined>& servers) {
  Examined& last = servers.back();
  const auto same = std::ranges::find(servers, last.run_id, &Examined::run_id);
  if (last.run_id.empty() || &*same == &last) return;
  last.findings.push_back({"quorum", Verdict::unfit,
                           fmt::format("it is the same server as {}, and it counts once; remove one ({})",
                                       sanitized(same->server), as_given("url", "--url"))});
}

void Doctor::show(const std::vector<Examined>& servers) const {
  std::vector<Json> items;
  std::string text;
  for (const Examined& examined : servers) {
    std::vector<Json> findings;
    text += sanitized(examined.server) + "\n";
    for (const Finding& finding : examined.findings) {
      const bool looked_at = finding.verdict != Verdict::not_looked_at;
      const bool is_fit = finding.verdict == Verdict::fit;
      findings.push_back(Json::object({{"subject", Json::word(finding.subject)},
                                       {"fit", looked_at ? Json{is_fit} : Json{}},
                                       {"text", finding.text}}));
      const std::string_view mark = !looked_at ? "?" : is_fit ? "ok" : "BAD";
      if (mark != "ok" || verbosity() != Verbosity::quiet)
        text += fmt::format("  {:<4} {:<12} {}\n", mark, finding.subject, finding.text);
    }
    items.push_back(Json::object(
        {{"server", examined.server}, {"fit", examined.fit()}, {"findings", Json::array(findings)}}));
  }
  const bool fit = std::ranges::all_of(servers, &Examined::fit);
  print(json_ ? Json::document({{"fit", fit}, {"servers", Json::array(items)}}).str() + "\n" : text);
}

}  // namespace

VerbRows doctor_verbs() {
  static constexpr VerbEntry kRow{.name = "doctor",
                                  .summary = "check whether a server is fit to hold locks",
                                  .takes = takes::server | takes::json,
                                  .exits = "0 fit, 1 rlock found a problem",
                                  .create = create<Doctor>};
  return {&kRow, 1};
}

}  // namespace rlock
