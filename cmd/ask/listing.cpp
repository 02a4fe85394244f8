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

void take(const Views& views, std::vector<Inspection>& seen, std::set<std::string>& silent) {
  std::ranges::copy(views.seen, std::back_inserter(seen));
  silent.insert(views.silent.begin(), views.silent.end());
}

/// May the other keys be shown in spite of this failure? A key in a moving slot, or one that this user may
/// not read, must not hide the other keys.
bool hides_nothing_else(const Failure& failure) {
  return failure.kind == Error::unreachable || failure.kind == Error::denied;
}

/// The keys that a search has found, inspected page by page in natural order.
class Pages {
 public:
  Pages(Session& session, const FoundKeys& found, TimePoint until)
      : session_(session),
        until_(until),
        names_(found.names.begin(), found.names.end()),
        silent_(found.silent),
        unread_(found.unread) {
    std::ranges::sort(names_, [](const LockName& one, const LockName& other) {
      return before_in_natural_order(one.str(), other.str());
    });
    if (unread_) silent_.insert("some keys cannot be read: " + session.describe(*unread_));
  }

  bool ended() const { return done_ == names_.size(); }
  bool can_go_on() const { return !ended() && !hopeless_ && session_.now() < until_; }
  bool all_read() const { return !unread_; }

  Page next() {
    const auto begin = names_.begin() + static_cast<std::ptrdiff_t>(done_);
    const auto count = std::min<std::size_t>(kPage, names_.size() - done_);
    Inspector inspector{session_, {begin, begin + static_cast<std::ptrdiff_t>(count)}};
    std::size_t bytes = 0;
    inspector.run([&](const Inspector::Result& result) {
      for (const Inspection& seen : result.views.seen) bytes += size_of(seen);
      // Of several servers, a minority may have been seen in spite of a failure.
      any_read_ = any_read_ || !result.failure;
      hopeless_ = hopeless_ || (!any_read_ && result.failure && result.failure->kind == Error::unreachable);
      return hopeless_ || bytes > kMostShown || session_.now() >= until_;
    });
    Page page{.seen = collect(inspector), .last = ended()};
    sort_by_server(session_, page.seen);
    return page;
  }

  /// The servers that did not answer, and the keys that could not be read. Throws Error if no key could be read.
  std::set<std::string> silent() {
    if (!any_read_ && unread_) fail(session_, *unread_);
    if (denied_ > 0)
      silent_.insert(fmt::format(
          "{} more, which this user may not read; see ACCESS RIGHTS in rlock-redisson(7)", denied_));
    return silent_;
  }

 private:
  /// Takes the results. Keys that were not started, because the page is full, come on the next page.
  std::vector<Inspection> collect(const Inspector& inspector) {
    std::vector<Inspection> seen;
    for (std::size_t i = 0; i < inspector.names().size(); ++i) {
      const auto& result = inspector.results()[i];
      if (!result) continue;
      ++done_;
      if (!result->failure) {
        take(result->views, seen, silent_);
        continue;
      }
      unread_ = result->failure;
      if (!hides_nothing_else(*unread_)) fail(session_, *unread_);
      if (unread_->kind == Error::denied) {
        ++denied_;
      } else {
        silent_.insert(
            fmt::format("{} cannot be read: {}", quoted(inspector.names()[i]), session_.describe(*unread_)));
      }
    }
    return seen;
  }

  Session& session_;
  const TimePoint until_;
  std::vector<LockName> names_;
  std::size_t done_ = 0;  ///< so many of them have a result
  bool any_read_ = false;
  /// The first answer about a key is that there is none. Then the others would only fail as late.
  bool hopeless_ = false;
  std::set<std::string> silent_;   ///< as in Listing
  std::optional<Failure> unread_;  ///< why a key could not be read: the last reason
  std::size_t denied_ = 0;         ///< the keys that this user may not read
};

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
      take(result.views, listing.seen, listing.silent);
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
  Listing rest = list_pages(session, std::move(options), scan_time, [&](Page page) {
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
  options.until = plus(session.now(), scan_time);
  const FoundKeys found = search(session, options);
  Pages pages{session, found, options.until};
  bool wanted = true;
  while (wanted && pages.can_go_on()) wanted = take_page(pages.next());

  Listing all{.seen = {},
              .silent = pages.silent(),
              .cut_short = found.cut_short,
              .scan_time = scan_time,
              .shard_missing = found.shard_missing};
  if (!wanted) all.cut_short = CutShort::too_many;
  if (!all.cut_short && !pages.ended()) all.cut_short = CutShort::late;
  all.complete = pages.all_read() && !all.shard_missing && !all.cut_short;
  return all;
}

void say_what_is_missing(const Listing& listing, std::string_view remedy) {
  for (const std::string& line : listing.silent) warn(line);
  if (listing.cut_short == CutShort::too_many)
    warn("cut short: there are too many keys; name fewer by a PATTERN");
  else if (listing.cut_short)
    warn(fmt::format("cut short after {}; {}", describe(listing.scan_time), remedy));
}

std::string names_text(const std::vector<Inspection>& seen) {
  std::set<LockName> names;
  std::string text;
  for (const Inspection& one : seen)
    if (names.insert(one.name).second) text += sanitized(as_typed(one.name), kLongestKey) + "\n";
  return text;
}

}  // namespace rlock
