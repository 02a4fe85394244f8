#include "redis/route/single.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"

namespace rlock {

Single::Single(Loop& loop, const Target& target, const Timeouts& timeouts)
    : target_(target), link_(loop, target, tls_context(target.tls), target.addresses.front(), timeouts) {}

Route::Choice Single::connection_for(std::string_view, TimePoint now) {
  Connection* connection = link_.connection(now);
  if (connection != nullptr && connection->identity().mode == "cluster" && !std::exchange(warned_, true))
    info(fmt::format("{} {}", str(), describe_cluster_node(link_.address(), target_.tls.on)));
  if (connection != nullptr) return connection;
  return link_.failure().value_or(no_answer());
}

std::optional<Failure> Single::wrong_url(const Reply& error) const {
  if (!error.is_error("MOVED") && !error.is_error("ASK")) return std::nullopt;
  return Failure{Error::config,
                 fmt::format("it is a node of a cluster, and the key lies on another one; use --url {}",
                             suggested_url(Target::Topology::cluster, link_.address(), target_.tls.on))};
}

Route::Verdict Single::judge(ConnectionNumber connection, const Reply& error, std::string_view,
                             TimePoint now) {
  if (error.is_error("READONLY")) {
    // The primary has become a replica. The name in the URL may now lead to another server.
    link_.renew(connection, failure_of(error), now);
    return Verdict::later;
  }
  return is_passing(error) ? Verdict::later : Verdict::deliver;
}

}  // namespace rlock
