#include "cmd/ask/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/ask/inspector.h"

namespace rlock {
namespace {

/// The most memory for inspections, in bytes, because no server may fill our memory.
constexpr std::size_t kMostShown = 8U << 20;
/// A page has at most this many keys.
constexpr std::size_t kPage = 1000;
constexpr const char* kTooMany = ": there are too many keys";

std::size_t size_of(const Owner& owner, const std::optional<Metadata>& facts) {
  return sizeof(Holder) + owner.str().size() + (facts ? bytes_of(*facts) : 0);
}

/// Sorts the inspections by server: those of the first server come first.
void sort_by_server(const Session& session, std::vector<Inspection>& seen) {
  std::vector<std::string> order;
  for (std::size_t node = 0; node < session.redis.nodes(); ++node) order.push_back(session.redis.str(node));
  const auto place = [&](const Inspection& one) {
    return one.server ? std::ranges::find(order, *one.server) : order.begin();
  };
  std::ranges::stable_sort(seen, {}, place);
}

void take(Listing& listing, const Inspector::Result& result) {
  std::ranges::copy(result.views.seen, std::back_inserter(listing.seen));
  listing.silent.insert(result.views.silent.begin(), result.views.silent.end());
}

/// May the other keys be shown in spite of this failure? A key in a moving slot, or one that this user may
/// not read, must not hide the other keys.
bool hides_nothing_else(const Failure& failure) {
  return failure.kind == Error::unreachable || failure.kind == Error::denied;
}

/// Keys that could not be read: the last reason, and how many this user may not read.
struct Unread {
  std::optional<Failure> last{};
  std::size_t denied = 0;
};

/// Collects the results. Some keys may have failed or not been started.
Listing collect(Session& session, const Inspector& inspector, Unread& unread) {
  Listing listing;
  for (std::size_t i = 0; i < inspector.names().size(); ++i) {
    const auto& result = inspector.results()[i];
    if (!result || !result->failure) {
      if (result) take(listing, *result);
      continue;
    }
    unread.last = result->failure;
    if (!hides_nothing_else(*unread.last)) fail(session, *unread.last);
    if (unread.last->kind == Error::denied) {
      ++unread.denied;
    } else {
      listing.silent.insert(
          fmt::format("{} cannot be read: {}", quoted(inspector.names()[i]), session.describe(*unread.last)));
    }
  }
  return listing;
}

}  // namespace

std::size_t size_of(const Inspection& seen) {
  std::size_t bytes = sizeof seen + seen.name.str().size();
  for (const Waiter& waiter : seen.waiters) bytes += size_of(waiter.owner, waiter.facts);
  for (const Holder& holder : seen.holders) bytes += size_of(holder.owner, holder.facts);
  return bytes;
}

Listing list_named(Session& session, const std::vector<LockName>& names) {
  const auto is_of_a_shard = [&](const Inspector::Result& result) {
    return session.redis.nodes() == 1 && session.deployment.has_cluster() &&
           result.failure->kind == Error::unreachable;
  };
  Inspector inspector{session, names};
  inspector.run([&](const Inspector::Result& result) {
    if (result.failure && !is_of_a_shard(result))
      fail(session, *result.failure);  // without awaiting the others
    return false;
  });
  Listing listing;
  std::optional<Failure> missing;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Inspector::Result& result = *inspector.results()[i];
    if (!result.failure) {
      take(listing, result);
      continue;
    }
    missing = result.failure;
    listing.silent.insert(fmt::format("{} cannot be read: {}", quoted(names[i]), missing->text));
  }
  if (missing && listing.seen.empty()) fail(session, *missing);
  listing.shard_missing = missing.has_value();
  listing.complete = !missing;
  sort_by_server(session, listing.seen);
  return listing;
}

Listing list_found(Session& session, SearchOptions options, Milliseconds scan_time) {
  Listing all;
  Listing rest = list_pages(session, std::move(options), scan_time, [&](Listing page, bool) {
    std::ranges::move(page.seen, std::back_inserter(all.seen));
    std::size_t bytes = 0;
    for (const Inspection& seen : all.seen) bytes += size_of(seen);
    return bytes <= kMostShown;
  });
  rest.seen = std::move(all.seen);
  sort_by_server(session, rest.seen);
  return rest;
}

Listing list_pages(Session& session, SearchOptions options, Milliseconds scan_time,
                   const PageTaker& take_page) {
  const TimePoint until = plus(session.loop.now(), scan_time);
  options.until = until;
  const FoundKeys found = search(session, options);
  std::vector<LockName> names{found.names.begin(), found.names.end()};
  std::ranges::sort(names, [](const LockName& one, const LockName& other) {
    return before_in_natural_order(one.str(), other.str());
  });

  Listing all;
  Unread unread{.last = found.unread};
  all.silent = found.silent;
  all.shard_missing = found.shard_missing;
  if (found.unread) all.silent.insert("some keys cannot be read: " + session.describe(*found.unread));
  std::size_t done = 0;
  // If the first answer about any key is that there is none, the others would only fail as late.
  bool wanted = true, any_seen = false, hopeless = false;
  while (done < names.size() && wanted && !hopeless && session.loop.now() < until) {
    const auto begin = names.begin() + static_cast<std::ptrdiff_t>(done);
    const auto count = std::min<std::size_t>(kPage, names.size() - done);
    Inspector inspector{session, {begin, begin + static_cast<std::ptrdiff_t>(count)}};
    std::size_t bytes = 0;
    inspector.run([&](const Inspector::Result& result) {
      for (const Inspection& seen : result.views.seen) bytes += size_of(seen);
      any_seen =
          any_seen || !result.failure;  // a minority of several servers may have been seen nevertheless
      hopeless = hopeless || (!any_seen && result.failure && result.failure->kind == Error::unreachable);
      return hopeless || bytes > kMostShown || session.loop.now() >= until;
    });
    // Keys that were not started, because the page is full, come on the next page.
    done += static_cast<std::size_t>(
        std::ranges::count_if(inspector.results(), [](const auto& result) { return result.has_value(); }));
    Listing page = collect(session, inspector, unread);
    all.silent.merge(page.silent);
    sort_by_server(session, page.seen);
    wanted = take_page(std::move(page), done == names.size());
  }
  if (!any_seen && unread.last) fail(session, *unread.last);
  if (unread.denied > 0)
    all.silent.insert(fmt::format(
        "{} more, which this user may not read; see ACCESS RIGHTS in rlock-redisson(7)", unread.denied));
  if (found.too_many || !wanted) {
    all.cut_short = kTooMany;
  } else if (found.late || done < names.size()) {
    all.cut_short = " after " + describe(scan_time);
  }
  all.complete = !unread.last && !all.shard_missing && all.cut_short.empty();
  return all;
}

void say_what_is_missing(const Listing& listing, std::string_view remedy) {
  for (const std::string& line : listing.silent) warn(line);
  if (!listing.cut_short.empty())
    warn(fmt::format("cut short{}; {}", listing.cut_short,
                     listing.cut_short == kTooMany ? "name fewer by a PATTERN" : remedy));
}

std::string names_text(const std::vector<Inspection>& seen) {
  std::set<LockName> names;
  std::string text;
  for (const Inspection& one : seen)
    if (names.insert(one.name).second) text += sanitized(as_typed(one.name), kLongestKey) + "\n";
  return text;
}

}  // namespace rlock
