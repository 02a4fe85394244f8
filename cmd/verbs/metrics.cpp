// rlock metrics: prints the facts of rlock list for Prometheus.

#include "cmd/cli/exit_code.h"
#include "cmd/cli/output.h"
#include "cmd/verbs/listing_options.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/key_row.h"
#include "cmd/view/metrics_text.h"

namespace rlock {
namespace {

class Metrics final : public Verb {
 public:
  void declare(VerbSpec& spec) override;
  int act(TimePoint started, std::vector<std::string> command) override;

 private:
  ListingOptions listing_options_;
};

void Metrics::declare(VerbSpec& spec) {
  spec.about =
      "Print the state of all keys as text for Prometheus: held, age, TTL, waiters, stale, permits and "
      "latch counts, by key and type. Nothing changes.";
  spec.examples = {{"rlock metrics", ""},
                   {"rlock metrics --all 'orders:*'", "also the locks of Redisson"},
                   {"rlock metrics >rlock.prom.new && mv rlock.prom.new rlock.prom", ""}};
  declare_listing_options(spec, listing_options_);
}

int Metrics::act(TimePoint, std::vector<std::string>) {
  Session session{server_, Session::Access::looks};
  const Listing listing = list_found(session, search_options(listing_options_), listing_options_.scan_time);
  print(metrics_text(one_of_each_key(listing.seen), listing.complete));
  say_what_is_missing(listing, "a longer --scan-time shows more");
  return exit_code::ok;
}

}  // namespace

VerbRows metrics_verbs() {
  static constexpr VerbEntry kRow{.name = "metrics",
                                  .summary = "print the state of all keys for Prometheus",
                                  .takes = takes::server,
                                  .exits = "0 the server answered",
                                  .create = create<Metrics>};
  return {&kRow, 1};
}

}  // namespace rlock
