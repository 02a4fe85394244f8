// Turns replies into an Inspection. The script inspect/key sends everything at once: the content of the key
// and of the keys beside it (KeyReply names these items). InspectionReader then finds out the kind. The layout of the
// key is not enough: Redisson keeps a lock, a fair and a fenced lock in the same kind of hash. A semaphore, a
// pool and a latch are all bare numbers. So what stands beside the key decides (Kind::Sign), or the metadata of a
// holder (KnownFacts). If there is neither, InspectionReader names the plainest kind.
//
// Any client with write access may have chosen the bytes. So numbers are bounded, sums stop at the largest
// number, and a reply of another shape throws.

#include "sync/watch/inspect.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/owner_id.h"
#include "base/text.h"
#include "redis/rows.h"
#include "scripts.h"
#include "sync/calls/arguments.h"
#include "sync/calls/keys.h"
#include "sync/kinds/latch.h"
#include "sync/kinds/permit_lock.h"

namespace rlock {
namespace {

/// The most memory that the reply to ask_facts() takes, in bytes: see lua/inspect.
constexpr std::size_t kLargestFacts = 5U << 20;

/// The sum, or the largest number if that is smaller, because any client may have written `number`.
std::int64_t sum(std::int64_t number, std::int64_t more) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return number > kMost - more ? kMost : number + more;
}

/// A score of a sorted set, which RESP2 sends as text and RESP3 as a double: "1795227584652".
std::int64_t score_of(const Reply& score) {
  const std::string text = score.text();
  return parse_count(std::string_view{text}.substr(0, text.find('.'))).value_or(0);
}

ServerTime time_of(const Reply& score) { return Reply{score_of(score)}.server_time(); }

/// The items of the reply to inspect/key, by name.
struct KeyReply {
  explicit KeyReply(const Reply& reply)
      : now(reply.at(0).server_time()),
        kind(reply.at(1).text()),
        ttl(ttl_of(reply.at(2))),
        first(reply.at(3).at(0)),
        content(reply.at(3).items()),
        queue(reply.at(4).items()),
        deadlines(reply.at(5).items()),
        token(reply.at(6)),
        taken(reply.at(7).items()),
        owners(reply.at(8).items()),
        living(reply.at(9).items()),
        leases(reply.at(10).integer()),
        further(reply.at(11).integer()),
        rests(reply.at(12).items()) {}

  ServerTime now;
  std::string kind;
  std::optional<Milliseconds> ttl;
  const Reply& first;  ///< the first item of content; nil: content is empty
  const std::vector<Reply>&content, &queue, &deadlines;
  const Reply& token;
  const std::vector<Reply>&taken, &owners, &living;
  std::int64_t leases, further;
  const std::vector<Reply>& rests;
};

/// Fills an Inspection from one reply.
class InspectionReader {
 public:
  InspectionReader(const LockName& name, const KnownFacts& known, const Reply& reply)
      : known_(known), reply_(reply) {
    seen_.name = name;
    seen_.now = reply_.now;
    seen_.ttl = reply_.ttl;
    if (has_token()) seen_.fence = parse_integer(reply_.token.text());
  }

  Inspection read() {
    seen_.kind = kind_stored_as(reply_.kind);
    if (reply_.kind == "none") {
      none();
    } else if (seen_.kind == nullptr) {
      seen_.foreign = reply_.kind;
      seen_.state = Inspection::State::held;
    } else {
      content();
    }
    queue();
    return std::move(seen_);
  }

 private:
  bool has_token() const { return reply_.token.kind() != Reply::Kind::array; }

  void refine(Kind::Sign sign) { seen_.kind = refined(seen_.kind, sign); }

  /// The record of a latch and the token of a fenced lock outlive the key.
  void none() {
    if (known_.opened) {
      refine(Kind::Sign::record);
      seen_.count = 0;
      seen_.state = Inspection::State::open;
      seen_.only_noted = true;
    }
    if (has_token()) refine(Kind::Sign::token);
  }

  void content() {
    switch (seen_.kind->layout) {
      case Kind::Layout::owners: owners(); break;
      case Kind::Layout::readers_and_writers: readers_and_writers(); break;
      case Kind::Layout::token: hold(reply_.first.text(), Holder::Mode::exclusive, Reply{1}); break;
      case Kind::Layout::number: return number();
    }
    const auto ended = [](const Holder& holder) { return holder.facts && holder.facts->ended_at; };
    const bool kept = !seen_.holders.empty() && std::ranges::all_of(seen_.holders, ended);
    seen_.state = kept ? Inspection::State::kept : Inspection::State::held;
  }

  void owners() {
    if (has_token()) refine(Kind::Sign::token);
    for (const auto& [owner, count] : rows_of<2>(reply_.content))
      hold(owner.text(), Holder::Mode::exclusive, count);
    seen_.unnamed = missing(reply_.leases);
    // A fair lock without waiters has no queue. If its holder is rlock, its metadata names the type.
    const Kind* with_queue = refined(seen_.kind, Kind::Sign::queue);
    const auto names_it = [&](const Holder& one) { return one.facts && one.facts->type == with_queue->name; };
    if (std::ranges::any_of(seen_.holders, names_it)) seen_.kind = with_queue;
  }

  void readers_and_writers() {
    std::size_t row = 0;
    for (const auto& [field, count] : rows_of<2>(reply_.content)) {
      const std::size_t at = row++;  // in reply_.rests, too
      std::string owner = field.text();
      if (owner == "mode") continue;
      const bool writes = owner.ends_with(kWriteSuffix);
      if (writes) owner.resize(owner.size() - kWriteSuffix.size());
      hold(owner, writes ? Holder::Mode::write : Holder::Mode::read, count);
      if (!writes && at < reply_.rests.size()) end_after(reply_.rests[at].integer());
    }
    seen_.unnamed = missing(reply_.leases - 1);  // one field is "mode"
  }

  /// How many of all the holders were not read.
  std::int64_t missing(std::int64_t all) const {
    return std::max<std::int64_t>(all - static_cast<std::int64_t>(seen_.holders.size()), 0);
  }

  /// Redisson keeps semaphores, pools and latches in a bare number. Without keys beside it, and without a
  /// record of rlock, it looks like a semaphore.
  void number() {
    const std::int64_t number = parse_integer(reply_.first.text()).value_or(0);
    seen_.state = number > 0 ? Inspection::State::open : Inspection::State::closed;
    if (known_.latch) {
      refine(Kind::Sign::record);
      seen_.count = number;
      seen_.state = number > 0 ? Inspection::State::closed : Inspection::State::open;
      return;
    }
    seen_.available = number;
    if (reply_.taken.empty()) return;
    refine(Kind::Sign::permits);
    permits();
  }

  /// Permits whose lease has ended count as available, although no call has returned them yet.
  void permits() {
    std::size_t row = 0;
    for (const auto& [permit, score] : rows_of<2>(reply_.taken)) {
      const std::size_t at = row++;  // in reply_.owners, too
      const std::string id = permit.text();
      const ServerTime end = time_of(score);
      if (end <= seen_.now) {
        seen_.available = sum(*seen_.available, 1);
        continue;
      }
      Holder holder{.mode = Holder::Mode::permit, .ttl = end - seen_.now};
      if (score_of(score) >= kNoLease) holder.ttl.reset();
      const std::string owner = at < reply_.owners.size() ? reply_.owners[at].text() : "";
      holder.permit = id;
      holder.owner = Owner{owner.empty() ? to_hex(id) : owner};
      holder.facts = recorded_facts(holder.owner);
      if (!holder.ttl && holder.facts)
        holder.facts->lease = Milliseconds{0};  // the lease in its facts is only how long the facts stay
      holder.slot = slot_in(id);
      seen_.holders.push_back(std::move(holder));
    }
    std::ranges::sort(seen_.holders, {}, [](const Holder& holder) { return holder.slot.value_or(1 << 20); });
    seen_.unnamed = missing(reply_.leases);
    seen_.total = sum(sum(*seen_.available, static_cast<std::int64_t>(seen_.holders.size())), seen_.unnamed);
    seen_.state = *seen_.available > 0 ? Inspection::State::open : Inspection::State::closed;
    if (!seen_.holders.empty()) seen_.state = Inspection::State::held;
  }

  void hold(std::string owner, Holder::Mode mode, const Reply& count) {
    Holder holder{.owner = Owner{std::move(owner)}, .mode = mode, .count = count.integer(), .ttl = seen_.ttl};
    if (seen_.kind->shown_by == Kind::Sign::token) holder.fence = seen_.fence;
    holder.facts = recorded_facts(holder.owner);
    seen_.holders.push_back(std::move(holder));
  }

  /// The key lasts as long as the longest lease of its readers: the last hold may end before.
  void end_after(std::int64_t rest) {
    std::optional<Milliseconds>& ttl = seen_.holders.back().ttl;
    if (ttl && rest != -1) ttl = std::min(*ttl, std::max(Milliseconds{rest}, Milliseconds{0}));
  }

  std::optional<Metadata> recorded_facts(const Owner& owner) const {
    const auto found = known_.facts.find(owner);
    if (found == known_.facts.end()) return std::nullopt;
    return of_present_holder(found->second, seen_.now);
  }

  /// rlock's waiters with their descriptions of themselves.
  std::map<std::string, Waiter> living() const {
    std::map<std::string, Waiter> all;
    for (const auto& [owner, ttl, since, json] : rows_of<4>(reply_.living))
      all.emplace(owner.text(), Waiter{.owner = Owner{owner.text()},
                                       .ttl = ttl.milliseconds(),
                                       .since = since.server_time(),
                                       .facts = parse_metadata(json.text())});
    return all;
  }

  void queue() {
    seen_.further_waiters = reply_.further;
    std::map<std::string, ServerTime> ends;
    for (const auto& [owner, score] : rows_of<2>(reply_.deadlines)) ends[owner.text()] = time_of(score);
    std::map<std::string, Waiter> ours = living();
    for (const Reply& item : reply_.queue) {
      const std::string owner = item.text();
      const auto end = ends.find(owner);
      const Milliseconds rest = end == ends.end() ? Milliseconds{0} : end->second - seen_.now;
      Waiter waiter{.owner = Owner{owner}};
      if (const auto found = ours.find(owner); found != ours.end()) waiter = std::move(found->second);
      ours.erase(owner);
      waiter.ttl = std::max(rest, Milliseconds{0});
      seen_.waiters.push_back(std::move(waiter));
    }
    if (!seen_.waiters.empty() && seen_.foreign.empty()) refine(Kind::Sign::queue);
    for (const auto& [owner, ttl, since, json] : rows_of<4>(reply_.living)) {
      const auto found = ours.find(owner.text());
      if (found != ours.end()) seen_.waiters.push_back(found->second);
    }
  }

  const KnownFacts& known_;
  const KeyReply reply_;
  Inspection seen_;
};

}  // namespace

Values keys_beside(const LockName& name) {
  Values all{{Parameter::lock, name.str()},
             {Parameter::meta, metadata_key(name)},
             {Parameter::token, token_key(name)},
             {Parameter::taken, taken_key(name)},
             {Parameter::slots, permit_slots_key(name)},
             {Parameter::beside, suffix_name(name, "")}};
  append(all, queue_values(name));
  append(all, line_values(name));
  return all;
}

std::optional<Milliseconds> ttl_of(const Reply& pttl) {
  const Milliseconds ttl = pttl.milliseconds();
  return ttl < Milliseconds{0} ? std::nullopt : std::optional{ttl};
}

Call ask_facts(const LockName& name, const std::string& wanted) {
  Call call =
      call_of(scripts::inspect_facts, {{Parameter::meta, metadata_key(name)}, {Parameter::lock, name.str()}});
  if (!wanted.empty()) call.args.edit().push_back(wanted);
  call.largest_reply = kLargestFacts;
  return call;
}

KnownFacts read_facts(const Reply& reply) {
  KnownFacts known;
  if (reply.kind() != Reply::Kind::array) return known;
  for (const auto& [field, json] : rows_of<2>(reply.items())) {
    if (field.kind() != Reply::Kind::text || json.kind() != Reply::Kind::text) continue;
    const std::string owner = field.text();
    const std::string text = json.text();
    if (const auto latch = owner == kLatchField ? parse_latch_record(text) : std::nullopt) {
      known.latch = true;
      known.opened = latch->opened.has_value();
      continue;
    }
    if (auto facts = parse_metadata(text)) known.facts.emplace(Owner{owner}, std::move(*facts));
  }
  return known;
}

Call inspect_key(const LockName& name, const Facts& facts, const std::string& wanted) {
  Call call = call_of(scripts::inspect_key, keys_beside(name));
  if (!wanted.empty()) call.args.edit().push_back(wanted);
  for (const auto& [owner, unused] : facts) call.args.edit().push_back(owner.str());
  call.largest_reply = kLargestInspection;
  return call;
}

Inspection read_inspection(const LockName& name, const KnownFacts& known, const Reply& reply) {
  return InspectionReader{name, known, reply}.read();
}

bool lacks_facts(const Inspection& inspection) {
  return std::ranges::any_of(inspection.holders,
                             [](const Holder& holder) { return !holder.facts && is_of_rlock(holder.owner); });
}

}  // namespace rlock
