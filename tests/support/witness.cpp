#include "support/witness.h"

#include <time.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "support/process.h"

namespace rlock::test {
namespace {

bool conflict(const Stay& a, const Stay& b) {
  return a.mode == Stay::Mode::exclusive || b.mode == Stay::Mode::exclusive;
}

/// How many commands hold a slot when `stay` enters, including itself.
std::size_t inside_at_entry(const std::vector<Stay>& stays, const Stay& stay) {
  return static_cast<std::size_t>(std::count_if(stays.begin(), stays.end(), [&](const Stay& other) {
    return other.mode == Stay::Mode::slot && other.enter <= stay.enter && stay.enter < other.exit;
  }));
}

}  // namespace

std::vector<std::string> witness_command(const std::string& folder, const std::string& how) {
  std::vector<std::string> words{program("witness"), "hold", folder};
  std::istringstream more{how};
  for (std::string word; more >> word;) words.push_back(word);
  return words;
}

long long boottime_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

std::vector<Stay> read_stays(const std::string& folder) {
  std::map<std::string, Stay> by_id;
  std::istringstream log{read_file(folder + "/log")};
  long long stamp = 0;
  std::string event, id, mode, name;
  std::size_t limit = 0;
  while (log >> stamp >> event >> id >> mode >> limit >> name) {
    auto& stay = by_id[id];
    stay.id = id;
    stay.name = name;
    stay.limit = limit;
    stay.mode = mode == "shared"  ? Stay::Mode::shared
                : mode == "slots" ? Stay::Mode::slot
                                  : Stay::Mode::exclusive;
    if (event == "enter") stay.enter = stamp;
    if (event == "exit") stay.finished = true;
    stay.exit = std::max(stay.exit, stamp);
  }
  std::vector<Stay> stays;
  for (auto& [_, stay] : by_id) stays.push_back(stay);
  std::sort(stays.begin(), stays.end(), [](const Stay& a, const Stay& b) { return a.enter < b.enter; });
  return stays;
}

Verdict judge(const std::string& folder) {
  Verdict verdict;
  const auto stays = read_stays(folder);
  verdict.holds = stays.size();
  std::size_t counted = 0;
  for (std::size_t i = 0; i < stays.size(); ++i) {
    const auto& first = stays[i];
    if (!first.finished) ++verdict.unfinished;
    if (first.mode == Stay::Mode::exclusive && first.finished) ++counted;
    if (first.mode == Stay::Mode::slot && inside_at_entry(stays, first) > first.limit) ++verdict.overlaps;
    for (std::size_t j = i + 1; j < stays.size(); ++j) {
      const auto& second = stays[j];
      const auto both = std::min(first.exit, second.exit) - second.enter;
      if (both <= 0 || !conflict(first, second)) continue;
      ++verdict.overlaps;
      verdict.longest = std::max(verdict.longest, std::chrono::microseconds{both / 1000});
    }
  }
  const auto refusals = read_file(folder + "/refused");
  verdict.refused = static_cast<std::size_t>(std::count(refusals.begin(), refusals.end(), '\n'));

  // A witness that was killed may have counted without a record of its end. Then the counter is larger than
  // `counted`, and no update is lost.
  std::size_t counter = 0;
  std::istringstream{read_file(folder + "/counter")} >> counter;
  verdict.lost = counter < counted ? counted - counter : 0;
  return verdict;
}

std::string Verdict::str() const {
  std::ostringstream text;
  text << holds << " holds (" << unfinished << " unfinished), " << refused << " refused by the kernel, "
       << overlaps << " overlaps";
  if (overlaps) text << " (longest " << static_cast<double>(longest.count()) / 1000 << " ms)";
  text << ", " << lost << " lost updates";
  return text.str();
}

}  // namespace rlock::test
