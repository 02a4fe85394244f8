#pragma once

#include <cstdint>
#include <vector>

namespace rlock::model {

/// What a fleet is made of, and how fast its server and its network are.
struct FleetPlan {
  int hosts = 50;  ///< each waits for one lock
  int keys = 1;    ///< host n waits for key n modulo keys
  int shards = 1;  ///< key n lives on server n modulo shards
  double least_rtt =
      0.2;  ///< ms; the round trips of the hosts are spread evenly over the magnitudes from here
  double most_rtt = 200;      ///< ms
  std::int64_t hold = 2'000;  ///< µs for which a host holds the lock
  int turns = 1000;           ///< hand-overs of each key that are watched
  std::uint64_t seed = 1;

  // Of a server, in µs of its only thread. With these one lock costs what tests/bench/capacity has measured.
  std::int64_t request = 10;  ///< each write that it reads
  std::int64_t command = 3;   ///< each command, those inside scripts too
  std::int64_t connect = 25;  ///< each new connection
};

/// What a fleet has done. A request is one write of a host, as a server reads it: a call with what follows it.
struct FleetReport {
  double waiting = 0;            ///< requests a second while all wait and nothing happens
  double waiting_busy = 0;       ///< how much of its time a server works meanwhile, 0 to 1
  double requests_per_turn = 0;  ///< of a hand-over
  double turn = 0;               ///< ms from one host's release to the next host's command, median
  double bytes_per_waiter = 0;   ///< of keys and what they contain
  double storm_peak = 0;         ///< requests in the busiest second of a server after a failover
  double sentinel_peak = 0;      ///< the same of the Sentinel
  double storm_first = 0;        ///< s from the promotion to the first hand-over
  double storm_settled = 0;      ///< s from the promotion until 99 of 100 hosts wait again
  std::int64_t overlaps = 0;     ///< two hosts had one key at once
  std::int64_t timeouts = 0;     ///< requests that took a server too long
};

/// Lets the fleet wait for two minutes, hand over `turns` times, and survive a failover.
///
/// The hosts are the classes of src/sync (Lock, Line, Pacing) and the Backoff of src/redis; the servers run the scripts of rlock over a
/// Store. All else is model: the network loses nothing, and a host has no other work.
FleetReport run_fleet(const FleetPlan& plan);

}  // namespace rlock::model
