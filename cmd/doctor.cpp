// rlock doctor: is this server fit to hold locks? Looks, and changes nothing.

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "cmd/diagnosis.h"
#include "cmd/exit_code.h"
#include "cmd/output.h"
#include "cmd/session.h"
#include "cmd/verbs.h"
#include "scripts.h"

namespace rlock {
namespace {

/// A round trip longer than this eats what the shortest leases have to spare.
constexpr Milliseconds kSlow{100};

/// What was found about one server.
struct Patient {
  std::string server;
  std::vector<Finding> findings;

  bool fit() const { return std::ranges::all_of(findings, &Finding::fit); }
};

class Doctor final : public Verb {
 public:
  Declaration declare() override {
    Declaration told{
        .verb = "doctor",
        .usage = {"doctor [OPTIONS]"},
        .about = "Say whether a server is fit to hold locks, and what to do where it is not.",
        .notes = "Exit status: 0 fit, 1 a finding; 64 usage, 69 no server, 77 denied, 78 config.",
        .examples = {{"rlock doctor", ""}, {"rlock doctor --json | jq -r '.servers[].findings[].text'", ""}}};
    told.add({.names = "--json", .help = "one document", .set = into(json_)});
    declare_server_options(told, server_);
    return told;
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_};
    const TimePoint asked = Clock::now();
    session.ask_all(command({"PING"}));
    const auto took = std::chrono::duration_cast<Milliseconds>(Clock::now() - asked);
    const std::vector<Patient> patients = examine(session, took);
    show(patients);
    return std::ranges::all_of(patients, &Patient::fit) ? exit_code::ok : exit_code::no;
  }

 private:
  static std::vector<Patient> examine(Session& session, Milliseconds took);
  void show(const std::vector<Patient>& patients) const;

  bool json_ = false;
  ServerOptions server_;
};

/// A question about each server, and who does not answer it.
Finding scripting(const Vote& vote) {
  if (vote.answer()) return {"scripting", true, "scripts run"};
  const std::string why = vote.reply     ? failure_of(*vote.reply).text
                          : vote.failure ? vote.failure->text
                                         : "no answer";
  return {"scripting", false, fmt::format("scripts do not run, and every lock is one: {}", sanitized(why))};
}

/// A user for locks alone need not see the settings; but nobody may believe that they were looked at.
Finding settings(const Reply& refusal) {
  const Failure why = failure_of(refusal);
  if (why.kind != Error::denied) return {"settings", false, why.text};
  return {"settings", true,
          "not looked at: this user may not ask for INFO (eviction, persistence, replicas)"};
}

Finding distance(Milliseconds took) {
  const std::string span = describe(std::max(took, Milliseconds{1}));
  if (took < kSlow) return {"distance", true, fmt::format("it answers within {}", span)};
  return {"distance", false, fmt::format("it took {} to answer; give leases room", span)};
}

std::vector<Patient> Doctor::examine(Session& session, Milliseconds took) {
  const Patience patience = within(session.deployment.timeouts.connect + session.deployment.timeouts.command);
  const Votes infos = session.redis.run(command({"INFO"}), patience);
  const Votes scripts = session.redis.run(
      {.script = &scripts::semaphore_status, .keys = {session.name("rlock:doctor").str()}}, patience);
  std::vector<Patient> patients;
  for (std::size_t node = 0; node < session.redis.nodes(); ++node) {
    Patient patient{.server = session.redis.str(node)};
    if (const Reply* info = infos[node].answer()) {
      patient.findings = diagnose(parse_info(info->text()));
    } else if (infos[node].reply) {
      patient.findings.push_back(settings(*infos[node].reply));
    } else if (infos[node].failure) {
      patient.findings.push_back({"answer", false, infos[node].failure->text});
    }
    patient.findings.push_back(scripting(scripts[node]));
    if (!infos[node].failure) patient.findings.push_back(distance(took));
    patients.push_back(std::move(patient));
  }
  return patients;
}

void Doctor::show(const std::vector<Patient>& patients) const {
  std::vector<Json> items;
  std::string text;
  for (const Patient& patient : patients) {
    std::vector<Json> findings;
    text += patient.server + "\n";
    for (const Finding& finding : patient.findings) {
      findings.push_back(Json::object(
          {{"subject", Json::word(finding.subject)}, {"fit", finding.fit}, {"text", finding.text}}));
      if (!finding.fit || verbosity() != Verbosity::quiet)
        text += fmt::format("  {:<4} {:<12} {}\n", finding.fit ? "ok" : "BAD", finding.subject, finding.text);
    }
    items.push_back(Json::object(
        {{"server", patient.server}, {"fit", patient.fit()}, {"findings", Json::array(findings)}}));
  }
  const bool fit = std::ranges::all_of(patients, &Patient::fit);
  print(json_ ? Json::object({{"v", 1}, {"fit", fit}, {"servers", Json::array(items)}}).str() + "\n" : text);
}

}  // namespace

std::unique_ptr<Verb> doctor_verb() { return std::make_unique<Doctor>(); }

}  // namespace rlock
