// rlock metrics: what list shows, for Prometheus.

#include "cmd/cli/exit_code.h"
#include "cmd/cli/output.h"
#include "cmd/verbs/key_options.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/key_row.h"
#include "cmd/view/metrics_text.h"

namespace rlock {
namespace {

class Metrics final : public Verb {
 public:
  VerbSpec spec() override;
  int act(TimePoint started, std::vector<std::string> command) override;

 private:
  KeyOptions keys_;
  ServerOptions server_;
};

VerbSpec Metrics::spec() {
  VerbSpec spec{
      .verb = "metrics",
      .usage = {"metrics [OPTIONS] [PATTERN...]"},
      .about =
          "Print what rlock list shows as text for Prometheus: held, age, ttl, waiting,\n"
          "stale, permits, latch counts, by key and type. Changes nothing.",
      .operands = {},
      .groups = {},
      .foreign = {},
      .notes = "Exit status: 0 the server answered, 64 usage, 69 no server, 77 denied,\n78 configuration.",
      .examples = {{"rlock metrics", ""},
                   {"rlock metrics --all 'orders:*'", "Redisson's locks, too"},
                   {"rlock metrics >rlock.prom", ""}},
  };
  declare_key_options(spec, keys_);
  declare_server_options(spec, server_);
  return spec;
}

int Metrics::act(TimePoint, std::vector<std::string>) {
  Session session{server_, nullptr, Session::Access::looks};
  const Listing listing = list_found(session, search_options(keys_), keys_.scan_time);
  print(metrics_text(one_of_each_key(listing.seen), listing.complete));
  say_what_is_missing(listing, "a longer --scan-time shows more");
  return exit_code::ok;
}

}  // namespace

std::unique_ptr<Verb> metrics_verb() { return std::make_unique<Metrics>(); }

}  // namespace rlock
