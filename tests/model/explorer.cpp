#include "explorer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <deque>
#include <functional>
#include <random>
#include <set>
#include <unordered_set>

#include "quorum.h"
#include "trace.h"

namespace rlock::model {
namespace {

class Watch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }

 private:
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

template <class World>
std::size_t fingerprint(const World& world) {
  return std::hash<std::string>{}(world.describe());
}

/// Repeats the events that led to a violation, and returns it with these events as a shell script.
template <class World>
Finding traced(const Setting& setting, Interpreter& lua, const std::vector<Event>& events) {
  World world{setting, lua};
  std::vector<std::string> lines{"# setting: " + setting.name};
  if (!setting.begins.empty()) lines.push_back("$REDIS " + fmt::format("{}", fmt::join(setting.begins, " ")));
  std::optional<std::string> wrong;
  for (const Event& event : events) wrong = world.apply(event, &lines);
  const std::string what =
      wrong.value_or("what was found was not found again: the model is not deterministic");
  lines.push_back("# WRONG: " + what);
  return {what, script_of(lines)};
}

/// The text of a finding without its numbers: the kind of the finding.
std::string kind_of(std::string wrong) {
  std::erase_if(wrong, [](char c) { return c >= '0' && c <= '9'; });
  return wrong;
}

/// How a state was reached: the state before it, and the index of the event.
struct Origin {
  std::size_t from;
  std::size_t event;
};

template <class World>
std::vector<Event> events_to(const Setting& setting, Interpreter& lua, const std::vector<Origin>& origins,
                             std::size_t state, std::size_t last) {
  std::vector<std::size_t> choices{last};
  for (; state != 0; state = origins[state].from) choices.push_back(origins[state].event);
  std::vector<Event> events;
  World world{setting, lua};
  for (auto choice = choices.rbegin(); choice != choices.rend(); ++choice) {
    events.push_back(world.events().at(*choice));
    world.apply(events.back());
  }
  return events;
}

/// The weight of an event in random walks: usual events are more frequent than faults.
double weight(const Event& event) {
  if (event.fate != Event::Fate::answered) return 0.5;
  switch (event.kind) {
    case Event::Kind::call:
    case Event::Kind::confirm: return 6;
    case Event::Kind::tick: return 5;
    case Event::Kind::release:
    case Event::Kind::replicate:
    case Event::Kind::deliver: return 2;
    case Event::Kind::give_up:
    case Event::Kind::crash:
    case Event::Kind::cut: return 0.4;
    case Event::Kind::drop:
    case Event::Kind::fail_over:
    case Event::Kind::jump: return 0.2;
    case Event::Kind::vanish: return 0.05;
  }
  return 1;
}

template <class World>
Exploration explored(const Setting& setting, Interpreter& lua, const Effort& effort) {
  const Watch watch;
  Exploration result;
  std::vector<Origin> origins{{0, 0}};
  std::deque<std::pair<std::size_t, World>> open;
  std::unordered_set<std::size_t> seen;
  open.emplace_back(0, World{setting, lua});
  seen.insert(fingerprint(open.front().second));
  std::set<std::string> kinds;
  while (!open.empty()) {
    if (seen.size() >= effort.states || watch.seconds() > effort.seconds) break;
    const auto [state, world] = std::move(open.front());
    open.pop_front();
    const std::vector<Event> events = world.events();
    for (std::size_t choice = 0; choice < events.size(); ++choice) {
      World next = world;
      ++result.steps;
      if (const auto wrong = next.apply(events[choice])) {
        if (kinds.insert(kind_of(*wrong)).second)
          result.findings.push_back(
              traced<World>(setting, lua, events_to<World>(setting, lua, origins, state, choice)));
        continue;
      }
      if (!seen.insert(fingerprint(next)).second) continue;
      origins.push_back({state, choice});
      open.emplace_back(origins.size() - 1, std::move(next));
    }
  }
  result.states = seen.size();
  result.complete = open.empty();
  return result;
}

template <class World>
Exploration walked(const Setting& setting, Interpreter& lua, const Effort& effort, std::uint64_t seed) {
  const Watch watch;
  Exploration result;
  std::mt19937_64 dice{seed};
  std::unordered_set<std::size_t> seen;
  constexpr std::size_t kLongest = 400;  // after so many events, a new walk finds more new states
  while (seen.size() < effort.states && watch.seconds() < effort.seconds) {
    World world{setting, lua};
    std::vector<Event> way;
    while (way.size() < kLongest && !world.at_rest()) {
      const std::vector<Event> events = world.events();
      if (events.empty()) break;
      std::vector<double> weights;
      for (const Event& event : events) weights.push_back(weight(event));
      way.push_back(events[std::discrete_distribution<std::size_t>{weights.begin(), weights.end()}(dice)]);
      ++result.steps;
      if (world.apply(way.back())) {
        result.findings.push_back(traced<World>(setting, lua, way));
        result.states = seen.size();
        return result;
      }
      seen.insert(fingerprint(world));
    }
  }
  result.states = seen.size();
  return result;
}

}  // namespace

Exploration explore(const Setting& setting, Interpreter& lua, const Effort& effort) {
  return setting.nodes > 1 ? explored<Quorum>(setting, lua, effort) : explored<World>(setting, lua, effort);
}

Exploration walk(const Setting& setting, Interpreter& lua, const Effort& effort, std::uint64_t seed) {
  return setting.nodes > 1 ? walked<Quorum>(setting, lua, effort, seed)
                           : walked<World>(setting, lua, effort, seed);
}

}  // namespace rlock::model
