#include "redis/single.h"

namespace rlock {

Single::Single(Loop& loop, const Target& target, const Timeouts& timeouts)
    : target_(target), link_(loop, target, tls_context(target.tls), target.addresses.front(), timeouts) {}

Route::Choice Single::connection_for(std::string_view) {
  if (Connection* connection = link_.connection()) return connection;
  if (link_.failure()) return *link_.failure();
  return NotYet{};
}

Route::Verdict Single::judge(std::uint64_t connection, const Reply& error, std::string_view) {
  if (error.is_error("READONLY")) {
    // A primary that became a replica. Behind the same name there may be another one by now.
    link_.renew(connection, failure_of(error));
    return Verdict::later;
  }
  return is_passing(error) ? Verdict::later : Verdict::pass_on;
}

}  // namespace rlock
