// rlock list: one line a key.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/output.h"
#include "cmd/cli/progress_line.h"
#include "cmd/cli/screen_size.h"
#include "cmd/verbs/key_options.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/inspection.h"
#include "cmd/view/key_row.h"
#include "cmd/view/key_table.h"

namespace rlock {
namespace {

/// Names are kept that take so many bytes, of half a million keys; and of what is sorted by age or waiting so much.
constexpr std::size_t kMostNames = 64U << 20;
constexpr std::size_t kMostKept = 64U << 20;

/// A setter that adds one of `choices`.
Setter one_more_of(std::vector<std::string>& words, std::string_view choices) {
  return [&words, choices](std::string_view value) {
    std::string word;
    choice(word, choices)(value);
    words.push_back(std::move(word));
  };
}

class List final : public Verb {
 public:
  void declare(VerbSpec& spec) override;
  int act(TimePoint started, std::vector<std::string> command) override;

 private:
  void show(const std::vector<Inspection>& keys);

  KeyOptions keys_;
  KeyFilter filter_;
  std::string order_ = "key";
  bool json_ = false;
  bool shown_ = false;  ///< a page has been
};

void List::declare(VerbSpec& spec) {
  spec.notes =
      "A key is stale if its holder has not renewed it for half its lease, or if it never\nexpires.\n";
  spec.about =
      "Print one line for each key: its holder, since when, when it expires, how many wait,\nand why. "
      "PATTERN (* ? [a-z] \\x) selects keys as you type them. Nothing changes.";
  spec.examples = {{"rlock list", "the locks of rlock"},
                   {"rlock list 'orders:*' --state stale", "holders that do not renew"},
                   {"rlock list --all --older 1h --sort age", "also the locks of Redisson"},
                   {"rlock list --json | jq -r '.keys[].holders[].meta.host'", ""}};
  spec.common = "all state type sort json quiet";
  declare_key_options(spec, keys_);
  for (const std::string_view name : {"--limit", "-n"})
    spec.foreign.push_back({name, "to see some lines only: rlock list | head -n N"});
  spec.add({.names = "--state",
            .value = "STATE",
            .help = "held kept stale free open closed; may be repeated",
            .manual = "List only keys in state STATE. You may repeat the option.",
            .offer = Offer::choices,
            .choices = kKeyStates,
            .set = one_more_of(filter_.states, kKeyStates)});
  spec.add({.names = "--type",
            .value = "TYPE",
            .help = "lock fair fenced read-write plain semaphore permit\nlatch; may be repeated",
            .manual = "List only keys of type TYPE. You may repeat the option.",
            .offer = Offer::choices,
            .choices = key_type_names(),
            .set = one_more_of(filter_.types, key_type_names())});
  spec.add({.names = "--host",
            .value = "H",
            .help = "list only keys that host H holds; may be repeated",
            .set = [this](std::string_view host) { filter_.hosts.emplace_back(host); }});
  spec.add({.names = "--older",
            .value = "DUR",
            .help = "list only keys that are held for DUR or longer",
            .set = into(filter_.older)});
  spec.add(
      {.names = "--sort",
       .value = "WHAT",
       .help = "key age waiting",
       .standard = "key",
       .manual =
           "Sort by the name of the key, by the age of the hold (the oldest first), or by the number of waiters "
           "(the most first).",
       .offer = Offer::choices,
       .choices = kKeyOrders,
       .set = choice(order_, kKeyOrders)});
  spec.add({.names = "--json", .help = "print the JSON document of rlock inspect", .set = into(json_)});
  spec.add({.names = "-q, --quiet",
            .help = "print only the keys, as you type them",
            .set = [](std::string_view) { set_verbosity(Verbosity::quiet); }});
  spec.add({.names = "-v, --verbose",
            .manual = "Also print what happens inside, such as redirections and broken connections.",
            .set = [](std::string_view) { set_verbosity(Verbosity::verbose); }});
}

/// Lines of one page, the titles only above the first.
void List::show(const std::vector<Inspection>& keys) {
  if (keys.empty()) return;
  if (json_) {
    for (const Inspection& seen : keys)
      print((std::exchange(shown_, true) ? "," : R"({"v":1,"keys":[)") + inspection_json(seen).str());
  } else if (verbosity() == Verbosity::quiet) {
    print(names_text(keys));
  } else {
    std::vector<std::string> lines = key_table(keys, stdout_columns());
    if (shown_) lines.erase(lines.begin());
    print(joined(lines, "\n") + "\n");
  }
  shown_ = true;
}

int List::act(TimePoint, std::vector<std::string>) {
  Session session{server_, nullptr, Session::Access::looks};
  const KeyOrder order = key_order(order_);
  std::vector<Inspection> kept;  // of what has to be sorted in another order, or fits a page
  Listing listing;
  {
    std::optional<ProgressLine> progress{std::in_place};
    SearchOptions options = search_options(keys_);
    options.most_bytes = kMostNames;
    options.without_shards = true;
    options.progress = [&](std::size_t steps, std::size_t found) {
      progress->show(fmt::format("rlock: looked through about {},000 keys, found {}", steps, found));
    };
    std::size_t bytes = 0;
    listing = list_pages(session, std::move(options), keys_.scan_time, [&](const Listing& page, bool last) {
      std::vector<Inspection> keys = one_of_each_key(page.seen);
      std::erase_if(keys, [this](const Inspection& seen) { return !passes(filter_, seen); });
      if (order == KeyOrder::key && (shown_ || !last)) {
        progress.reset();  // nothing of it may be left among the lines
        sort_keys(keys, order);
        show(keys);
        return true;
      }
      for (const Inspection& seen : keys) bytes += size_of(seen);
      std::ranges::move(keys, std::back_inserter(kept));
      return bytes <= kMostKept;
    });
  }
  sort_keys(kept, order);
  if (!shown_ && json_) {
    print_line(inspection_document(kept, listing.complete).str());
  } else {
    show(kept);
    if (json_) print_line(fmt::format(R"(],"complete":{}}})", listing.complete));
  }
  say_what_is_missing(listing, "a longer --scan-time shows more");
  if (listing.shard_missing) return exit_code::unreachable;
  if (shown_ || !kept.empty()) return exit_code::ok;
  if (!json_)
    tell(keys_.all ? "no such keys"
                   : "no such keys of rlock; --all looks for semaphores and those of others, too");
  return exit_code::no;
}

constexpr VerbEntry kRow{"list", "print each key on a line: holder, age, waiters", takes::server,
                         "0 there are such keys, 1 there are none", create<List>};

}  // namespace

VerbRows list_verbs() { return {&kRow, 1}; }

}  // namespace rlock
