// A fleet in model time: the load of thousands of waiting hosts on a server. See tests/TOOLS.md.
//
//   fleet [--hosts N,N,...] [--keys N] [--shards N] [--rtt LEAST..MOST] [--hold MICROSECONDS] [--turns N]
//   [--seed N] [--json FILE] [--check]
//
// With --check, it exits with 1 if a promise of rlock-capacity(7) is broken.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "fleet.h"

using namespace rlock::model;

namespace {

struct Arguments {
  std::vector<int> hosts{50, 500, 5000};
  FleetPlan plan{};
  std::string json{};
  bool check = false;
};

std::vector<int> numbers_in(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream words{text};
  for (std::string word; std::getline(words, word, ',');) numbers.push_back(std::stoi(word));
  return numbers;
}

Arguments read_arguments(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--check") {
      arguments.check = true;
      continue;
    }
    if (i + 1 == count) throw std::invalid_argument{word + ": not known, or without a value"};
    const std::string value = words[++i];
    if (word == "--hosts") {
      arguments.hosts = numbers_in(value);
    } else if (word == "--keys") {
      arguments.plan.keys = std::stoi(value);
    } else if (word == "--shards") {
      arguments.plan.shards = std::stoi(value);
    } else if (word == "--rtt") {
      arguments.plan.least_rtt = std::stod(value);
      arguments.plan.most_rtt = std::stod(value.substr(value.find("..") + 2));
    } else if (word == "--hold") {
      arguments.plan.hold = std::stoll(value);
    } else if (word == "--turns") {
      arguments.plan.turns = std::stoi(value);
    } else if (word == "--seed") {
      arguments.plan.seed = std::stoull(value);
    } else if (word == "--json") {
      arguments.json = value;
    } else {
      throw std::invalid_argument{word + ": not known"};
    }
  }
  return arguments;
}

/// The promises about hand-overs and waiting, for any number of hosts.
bool is_kept(const FleetPlan& plan, const FleetReport& report) {
  constexpr double kRequestsOfATurn = 6;
  constexpr double kSecondsBetweenRequests =
      10;  // seconds between two requests of a waiter, on average: the first five of each line ask more often
  const double front = 5.0 * plan.keys;
  const bool few = report.waiting <= plan.hosts / kSecondsBetweenRequests + front;
  return report.overlaps == 0 && report.requests_per_turn <= kRequestsOfATurn && few;
}

int run(const Arguments& arguments) {
  fmt::print("{} key(s) on {} server(s), round trips of {} to {} ms, seed {}\n", arguments.plan.keys,
             arguments.plan.shards, arguments.plan.least_rtt, arguments.plan.most_rtt, arguments.plan.seed);
  fmt::print("{:>7} {:>10} {:>6} {:>9} {:>8} {:>8} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8}\n", "hosts",
             "waiting/s", "busy", "per turn", "turn ms", "bytes", "storm/s", "sentinel", "first s", "calm s",
             "timeouts", "took s");
  bool kept = true;
  std::string json;
  for (const int hosts : arguments.hosts) {
    FleetPlan plan = arguments.plan;
    plan.hosts = hosts;
    const auto begun = std::chrono::steady_clock::now();
    const FleetReport report = run_fleet(plan);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    fmt::print(
        "{:7} {:10.1f} {:5.1f}% {:9.2f} {:8.1f} {:8.0f} {:9.0f} {:9.0f} {:8.2f} {:8.1f} {:8} {:8.1f}\n",
        hosts, report.waiting, 100 * report.waiting_busy, report.requests_per_turn, report.turn,
        report.bytes_per_waiter, report.storm_peak, report.sentinel_peak, report.storm_first,
        report.storm_settled, report.timeouts, took);
    std::fflush(stdout);
    if (!is_kept(plan, report)) {
      fmt::print("  WRONG: {} overlaps, or more requests than rlock-capacity(7) says\n", report.overlaps);
      kept = false;
    }
    json += fmt::format(
        "{}{{\"hosts\":{},\"waiting\":{:.1f},\"busy\":{:.4f},\"per_turn\":{:.2f},\"turn_ms\":{:.1f},\"storm\":{:.0f},\"sentinel\":{:.0f},\"first_s\":{:.2f},\"calm_s\":{:.1f}}}",
        json.empty() ? "[" : ",\n ", hosts, report.waiting, report.waiting_busy, report.requests_per_turn,
        report.turn, report.storm_peak, report.sentinel_peak, report.storm_first, report.storm_settled);
  }
  if (!arguments.json.empty()) std::ofstream{arguments.json} << json << "]\n";
  return arguments.check && !kept ? 1 : 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(read_arguments(count, words));
  } catch (const std::exception& error) {
    fmt::print(stderr, "fleet: {}\n", error.what());
    return 64;
  }
}
