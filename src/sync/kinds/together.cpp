#include "sync/kinds/together.h"

#include <algorithm>

#include "sync/calls/answers.h"
#include "sync/calls/arguments.h"

namespace rlock {
namespace {

/// The most memory that the answer of one member takes in the reply, in bytes.
constexpr std::size_t kMemberTakes = 512;

}  // namespace

std::optional<Together> Together::of(std::span<const Lockable* const> members) {
  const Script* ask = members.front()->ask().script;
  const Script* script = ask->several;
  const bool alike =
      std::ranges::all_of(members, [&](const Lockable* member) { return member->ask().script == ask; });
  if (script == nullptr || !alike) return std::nullopt;
  return Together{members, *script};
}

Call Together::encode(Milliseconds waited) const {
  Call all{.script = script_};
  std::vector<std::string> keys, args{std::to_string(members_.size())};
  all.largest_reply += members_.size() * kMemberTakes;
  for (const Lockable* member : members_) {
    const Call ask = member->ask(waited);
    const Call back = *member->undo(Wake::nobody);
    append(keys, ask.keys);
    append(keys, back.keys);
    for (const std::size_t count : {ask.keys.size(), back.keys.size(), ask.args.size(), back.args.size()})
      args.push_back(std::to_string(count));
    append(args, ask.args);
    append(args, back.args);
  }
  all.keys = std::move(keys);
  all.args = std::move(args);
  return all;
}

std::optional<Call> Together::undo(Wake wake) const {
  if (wake == Wake::waiters) return std::nullopt;
  Call call = ask();
  call.args.edit().front().insert(0, 1, '-');
  return call;
}

AcquireAnswer Together::decode(const Reply& reply) const {
  const std::string word = word_of(reply);
  if (word == "held") return decode_held(reply.at(1));
  if (word != "not_all") refuse_word("acquire", reply);
  const auto member = static_cast<std::size_t>(reply.at(1).integer() - 1);
  if (member >= members_.size()) throw Error{Error::internal, "the server named a member that there is not"};
  AcquireAnswer answer = members_[member]->read(reply.at(2));
  const LockName& key = members_[member]->name();
  if (auto* busy = std::get_if<Busy>(&answer)) busy->key = key;
  if (auto* refused = std::get_if<Refused>(&answer)) refused->key = key;
  return answer;
}

AcquireAnswer Together::decode_held(const Reply& answers) const {
  std::vector<Held> all;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    AcquireAnswer answer = members_[i]->read(answers.at(i));
    if (std::holds_alternative<Failure>(answer)) return answer;
    auto* held = std::get_if<Held>(&answer);
    if (held == nullptr) throw Error{Error::internal, "inconsistent reply: all taken, but one key is not"};
    all.push_back(std::move(*held));
  }
  Held together = all.front();
  together.members = std::move(all);
  return together;
}

const Lockable* Together::busy_one(const Busy& busy) const {
  for (const Lockable* member : members_)
    if (member->name() == busy.key) return member;
  return nullptr;
}

const Line* Together::line(const Busy& busy) const {
  const Lockable* const member = busy_one(busy);
  return member != nullptr ? member->line(busy) : nullptr;
}

Line::Notice Together::read_notice(const Message& message, const Busy& busy) const {
  const Lockable* const member = busy_one(busy);
  return member != nullptr ? member->read_notice(message, busy) : Line::Notice::reason();
}

std::vector<Channel> Together::channels() const {
  std::vector<Channel> all;
  for (const Lockable* member : members_) append(all, member->channels());
  return all;
}

}  // namespace rlock
