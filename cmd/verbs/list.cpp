// rlock list: prints one line for each key.

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/output.h"
#include "cmd/cli/progress_line.h"
#include "cmd/cli/screen_size.h"
#include "cmd/server/server_options.h"
#include "cmd/verbs/listing_options.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/inspection_json.h"
#include "cmd/view/key_row.h"
#include "cmd/view/key_table.h"

namespace rlock {
namespace {

/// The most memory for the names of keys. It is enough for half a million keys.
constexpr std::size_t kMostNames = 64U << 20;
/// The most memory for inspections that are sorted before the first one is printed.
constexpr std::size_t kMostKept = 64U << 20;

class List final : public Verb {
 public:
  void declare(VerbSpec& spec) override;
  int act(TimePoint started, std::vector<std::string> command) override;

 private:
  Listing list(Session& session, std::vector<Inspection>& kept);
  void limit(std::vector<Inspection>& keys);
  void show(const std::vector<Inspection>& keys);

  ListingOptions listing_options_;
  KeyChoice choice_;
  std::optional<std::int64_t> limit_;  ///< this many more keys may be printed
  bool limited_ = false;               ///< --limit left out some keys
  bool shown_ = false;                 ///< a page was printed
  InspectionPages pages_;              ///< with --json
};

void List::declare(VerbSpec& spec) {
  spec.notes =
      "A key is stale if its holder has not renewed it for half its lease, or if it never expires.\n";
  spec.about =
      "Print one line for each key: its holder, since when, when it expires, how many wait, and why. "
      "PATTERN (* ? [a-z] \\x) selects keys as you type them. Nothing changes.";
  spec.examples = {{"rlock list", "the locks of rlock"},
                   {"rlock list 'orders:*' --state stale", "holders that do not renew"},
                   {"rlock list --all --older 1h --sort age", "also the locks of Redisson"},
                   {"rlock list --json | jq -r '.keys[].holders[].meta.host'", ""}};
  spec.common = "all state type sort json quiet";
  declare_listing_options(spec, listing_options_);
  spec.other_tools.push_back({"-n", "did you mean --limit?"});
  declare_key_choice(spec, choice_);
  spec.add({.names = "--limit",
            .value = "N",
            .help = "print N keys at most",
            .manual = "rlock prints the first N keys in the order of --sort.",
            .set = number_between(limit_, 1, std::numeric_limits<std::int64_t>::max())});
  declare_json(spec, json_, "print the JSON document of rlock inspect");
  declare_verbosity(
      spec, {.help = "print only the keys, as you type them"},
      {.manual = "Also print what happens inside, such as redirections and broken connections."});
}

/// Removes the keys beyond --limit.
void List::limit(std::vector<Inspection>& keys) {
  if (!limit_) return;
  const auto left = static_cast<std::size_t>(*limit_);
  limited_ = limited_ || keys.size() > left;
  if (keys.size() > left) keys.erase(keys.begin() + *limit_, keys.end());
  *limit_ -= static_cast<std::int64_t>(keys.size());
}

/// Prints one page; the titles stand only above the first.
void List::show(const std::vector<Inspection>& keys) {
  if (keys.empty()) return;
  if (json_) {
    for (const Inspection& seen : keys) print(pages_.next(seen));
  } else if (verbosity() == Verbosity::quiet) {
    print(names_text(keys));
  } else {
    std::vector<std::string> lines = key_table(keys, stdout_columns());
    if (shown_) lines.erase(lines.begin());
    print(joined(lines, "\n") + "\n");
  }
  shown_ = true;
}

/// Searches, and prints page by page. But if the keys are sorted in another order than by name, or fit on one page,
/// `kept` gets them, and nothing is printed.
Listing List::list(Session& session, std::vector<Inspection>& kept) {
  std::optional<ProgressLine> progress{session.now()};
  SearchOptions options = search_options(listing_options_);
  options.most_bytes = kMostNames;
  options.without_shards = true;
  options.progress = [&](const SearchProgress& now) {
    progress->show("rlock: " + now.text(), session.now());
  };
  std::size_t bytes = 0;
  return list_pages(session, std::move(options), listing_options_.scan_time, [&](const Page& page) {
    std::vector<Inspection> keys = one_of_each_key(page.seen);
    std::erase_if(keys, [this](const Inspection& seen) { return !passes(choice_.filter, seen); });
    if (choice_.order == KeyOrder::key && (shown_ || !page.last)) {
      progress.reset();  // removes the progress line before the first page
      sort_keys(keys, KeyOrder::key);
      limit(keys);
      show(keys);
      limited_ = limited_ || (limit_ == 0 && !page.last);
      return limit_ != 0;
    }
    for (const Inspection& seen : keys) bytes += size_of(seen);
    std::ranges::move(keys, std::back_inserter(kept));
    return bytes <= kMostKept;
  });
}

int List::act(TimePoint, std::vector<std::string>) {
  Session session{server_, Session::Access::looks};
  std::vector<Inspection> kept;
  Listing listing = list(session, kept);
  sort_keys(kept, choice_.order);
  limit(kept);
  if (limited_) listing.cut_short.reset();  // --limit asked for less
  listing.complete = listing.complete && !limited_;
  if (!shown_ && json_) {
    print_line(inspection_document(kept, listing.complete).str());
  } else {
    show(kept);
    if (json_) print_line(pages_.end(listing.complete));
  }
  say_what_is_missing(listing, "a longer --scan-time shows more");
  if (listing.shard_missing) return exit_code::unreachable;
  if (shown_ || !kept.empty()) return exit_code::ok;
  if (!json_)
    info(
        listing_options_.all
            ? "there are no such keys"
            : "there are no such keys with notes of rlock; --all also finds semaphores and the keys of other clients");
  return exit_code::no;
}

}  // namespace

VerbRows list_verbs() {
  static constexpr VerbEntry kRow{.name = "list",
                                  .summary = "print each key on a line: holder, age, waiters",
                                  .takes = takes::server,
                                  .exits = "0 there are such keys, 1 there are none",
                                  .create = create<List>};
  return {&kRow, 1};
}

}  // namespace rlock
