// Looks for a sequence of events in which rlock's scripts and clients violate a rule. See tests/TOOLS.md.
//
//   explorer [--seconds N] [--states N] [--seed N] [--only WORD] [--traces FOLDER] [--first] [--scripts
//   FOLDER]
//   explorer --list | --dump FOLDER

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>

#include "explorer.h"
#include "scripts.h"
#include "settings.h"

using namespace rlock::model;

namespace {

struct Arguments {
  double seconds = 60;           ///< for all settings
  std::size_t states = 300'000;  ///< for one setting
  std::uint64_t seed = 0;        ///< 0: a random seed
  std::string only;              ///< settings with this text in their name, or with one of these: lock,fair
  std::string traces;            ///< the folder for the findings
  std::string scripts{};         ///< a folder with scripts to run instead of the built-in ones
  std::string dump{};            ///< only writes the scripts into this folder
  bool first = false;            ///< ends with the first finding
  bool list = false;
};

Arguments read_arguments(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--list" || word == "--first") {
      (word == "--list" ? arguments.list : arguments.first) = true;
      continue;
    }
    if (i + 1 == count) throw std::invalid_argument{word + ": not known, or without a value"};
    const std::string value = words[++i];
    if (word == "--seconds") {
      arguments.seconds = std::stod(value);
    } else if (word == "--states") {
      arguments.states = std::stoull(value);
    } else if (word == "--seed") {
      arguments.seed = std::stoull(value);
    } else if (word == "--only") {
      arguments.only = value;
    } else if (word == "--traces") {
      arguments.traces = value;
    } else if (word == "--scripts") {
      arguments.scripts = value;
    } else if (word == "--dump") {
      arguments.dump = value;
    } else {
      throw std::invalid_argument{word + ": not known"};
    }
  }
  if (arguments.seed == 0) arguments.seed = std::random_device{}() % 1'000'000 + 1;
  return arguments;
}

bool is_wanted(const std::string& name, const std::string& only) {
  std::istringstream words{only};
  std::string word;
  while (std::getline(words, word, ','))
    if (name.find(word) != std::string::npos) return true;
  return only.empty();
}

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

void report(const Setting& setting, const Exploration& result, double seconds, const Arguments& arguments) {
  const char* outcome = !result.findings.empty() ? "WRONG" : result.complete ? "whole" : "part";
  fmt::print("{:24} {:6} {:8} states {:9} steps {:6.1f} s\n", setting.name, outcome, result.states,
             result.steps, seconds);
  int number = 0;
  for (const Finding& finding : result.findings) {
    fmt::print("  WRONG: {}\n", finding.what);
    if (arguments.traces.empty()) {
      fmt::print("\n{}\n", finding.trace);
      continue;
    }
    std::ofstream{fmt::format("{}/{}-{}.sh", arguments.traces, setting.name, ++number)} << finding.trace;
  }
  std::fflush(stdout);
}

int run(const Arguments& arguments) {
  std::vector<Setting> settings;
  for (Setting& setting : all_settings())
    if (is_wanted(setting.name, arguments.only)) settings.push_back(std::move(setting));
  if (arguments.list) {
    for (const Setting& setting : settings) fmt::print("{}\n", setting.name);
    return 0;
  }
  if (!arguments.dump.empty()) {
    for (const rlock::Script* script : rlock::scripts::all)
      std::ofstream{file_of(arguments.dump, *script)} << script->source;
    return 0;
  }
  const auto begun = std::chrono::steady_clock::now();
  fmt::print("seed {}\n", arguments.seed);
  Interpreter lua;
  lua.take_scripts_from(arguments.scripts);
  std::size_t states = 0, steps = 0, wrong = 0;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const auto started = std::chrono::steady_clock::now();
    // Time that small settings do not need is left for the others.
    const double share =
        (arguments.seconds - seconds_since(begun)) / static_cast<double>(settings.size() - i);
    const Effort effort{.states = arguments.states, .seconds = share};
    const Exploration result = settings[i].walks ? walk(settings[i], lua, effort, arguments.seed)
                                                 : explore(settings[i], lua, effort);
    report(settings[i], result, seconds_since(started), arguments);
    states += result.states;
    steps += result.steps;
    wrong += result.findings.empty() ? 0 : 1;
    if (arguments.first && wrong > 0) break;
  }
  fmt::print("{} settings, {} wrong, {} states, {} steps, {:.1f} s, seed {}\n", settings.size(), wrong,
             states, steps, seconds_since(begun), arguments.seed);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(read_arguments(count, words));
  } catch (const std::exception& error) {
    fmt::print(stderr, "explorer: {}\n", error.what());
    return 64;
  }
}
