// Inputs from users, from the environment and from other owners: config files, RLOCK_STACK, facts, command
// lines.

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "cmd/app/verb_table.h"
#include "cmd/cli/parser.h"
#include "cmd/hold/request/inherited_hold.h"
#include "cmd/server/config.h"
#include "cmd/view/history_text.h"
#include "cmd/view/holder_text.h"
#include "fuzz/must.h"
#include "fuzz/properties.h"
#include "sync/records/history.h"

namespace rlock::test {
namespace {

/// A file in memory that only this user can read.
class PrivateFile {
 public:
  explicit PrivateFile(std::string_view text) : fd_(::memfd_create("config", MFD_CLOEXEC)) {
    must(::fchmod(fd_.number(), 0600) == 0, "memory can be a private file");
    must(::write(fd_.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()),
         "memory takes it");
  }
  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_.number()); }

 private:
  Descriptor fd_;
};

std::vector<std::string> words_of(std::string_view bytes) {
  std::vector<std::string> words;
  for (const std::string& word : split(bytes, '\n')) words.push_back(word.substr(0, word.find('\0')));
  return words;
}

void must_read_back(const Metadata& facts) {
  Holder holder;
  holder.owner = Owner{"me:1"};
  holder.facts = facts;
  for (const auto now :
       {std::optional<ServerTime>{}, std::optional{facts.since}, std::optional{ServerTime{kLongest}}})
    must(harmless(holder_text(holder, now)), "a holder is harmless");
}

}  // namespace

void check_config(std::string_view bytes) {
  const PrivateFile file{bytes};
  const auto known = [&] {
    return attempt(
        [&] {
          ServerOptions options;
          Profile profile{.name = "production"};
          read_config(file.path(), options, profile);
          return profile.known;
        },
        Error::config);
  };
  const auto once = known();
  must(known() == once, "a file says the same twice");
}

void check_stack(std::string_view bytes) {
  const std::vector<InheritedHold> holds = read_holds(bytes);
  const std::vector<InheritedHold> again = read_holds(write_holds(holds));
  must(again.size() == holds.size(), "every hold is read back");
  for (std::size_t i = 0; i < holds.size(); ++i)
    must(again[i].type == holds[i].type && again[i].owner == holds[i].owner && again[i].key == holds[i].key,
         "a hold is read back as it was");
  std::vector<InheritedHold> rest = holds;
  for (const InheritedHold& hold : holds) must(forget(rest, hold.key), "every hold is found by its key");
  must(rest.empty(), "each is found once");
}

void check_metadata(std::string_view bytes) {
  if (const auto facts = parse_metadata(bytes)) must_read_back(*facts);
  const Reply entry{std::string{bytes}};
  const History history = read_history(Reply{std::vector<Reply>{Reply{std::int64_t{1}}, entry}});
  must(history.holds.size() <= 1, "an entry is at most one hold");
  for (const PastHold& past : history.holds) {
    must(harmless(past_text(past)), "a past hold is harmless");
    must(harmless(last_text(past, history.now)), "what was last is harmless");
    must(harmless(past_json(past).str()), "a past hold is harmless as JSON");
    must(past.held() >= Milliseconds{0}, "nobody holds for less than no time");
  }
}

void check_argv(std::string_view bytes) {
  std::vector<std::string> words = words_of(bytes);
  const VerbEntry* const entry = words.empty() ? nullptr : find_verb(words.front());
  if (entry == nullptr) return;
  words.erase(words.begin());
  const auto verb = entry->make();
  const VerbSpec spec = verb->spec();
  must(options_at_front(spec, words) <= words.size(), "there are no more options than words");
  const auto parsed = attempt([&] { return parse(spec, words); });
  if (!parsed || parsed->action != Parsed::Action::act) return;
  must(parsed->command.size() <= words.size() &&
           std::equal(parsed->command.rbegin(), parsed->command.rend(), words.rbegin()),
       "a command is the last words, untouched");
}

}  // namespace rlock::test
