#pragma once

#include <cstdint>
#include <vector>

namespace rlock::model {

/// The size of a fleet, and the speed of its servers and network.
struct FleetPlan {
  int hosts = 50;  ///< each waits for one lock
  int keys = 1;    ///< host n waits for key n modulo keys
  int shards = 1;  ///< key n is on server n modulo shards
  double least_rtt =
      0.2;  ///< ms; the round trips are spread evenly over the orders of magnitude between least_rtt and
            ///< most_rtt
  double most_rtt = 200;      ///< ms
  std::int64_t hold = 2'000;  ///< for how many µs a host holds the lock
  int turns = 1000;           ///< hand-overs to watch per key, at most half as many as hosts in all
  std::uint64_t seed = 1;

  // The costs of a server, in µs of its only thread. With these values, one lock costs as much as
  // tests/bench/capacity has measured.
  std::int64_t request = 10;  ///< for each write that it reads
  std::int64_t command = 3;   ///< for each command, including those in scripts
  std::int64_t connect = 25;  ///< for each new connection
};

/// The result of a fleet. A request is one write of a host, as a server reads it: a call with its followers.
struct FleetReport {
  double waiting = 0;            ///< requests a second while all wait and nothing happens
  double waiting_busy = 0;       ///< the load of the server meanwhile, 0 to 1
  double requests_per_turn = 0;  ///< requests per hand-over
  double turn = 0;               ///< ms from one host's release to the next host's command, median
  double bytes_per_waiter = 0;   ///< bytes of keys and their contents
  double storm_peak = 0;         ///< requests in the busiest second of a server after a failover
  double sentinel_peak = 0;      ///< the same for the Sentinel
  double storm_first = 0;        ///< s from the promotion to the first hand-over
  double storm_settled = 0;      ///< s from the promotion until 99 of 100 hosts wait again
  std::int64_t overlaps = 0;     ///< how often two hosts had one key at once
  std::int64_t timeouts = 0;     ///< requests that the server did not answer in time
};

/// Lets the fleet wait for two minutes, hand over `turns` times, and survive a failover.
///
/// The hosts use the classes of src/sync (Lock, Line, Pacing) and the Backoff of src/redis. The servers run
/// the scripts of rlock over a Store. The rest is a model: the network loses nothing, and a host has no other
/// work.
FleetReport run_fleet(const FleetPlan& plan);

}  // namespace rlock::model
