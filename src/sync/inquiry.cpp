#include "sync/inquiry.h"

#include <algorithm>

#include "base/error.h"

namespace rlock {

void Inquiry::begin(const LockName& name, const std::optional<Channel>& channel, Milliseconds answer_within) {
  drop();
  name_ = name;
  answer_within_ = answer_within;
  begun_ = Clock::now();
  seen_.clear();
  listeners_ = 0;
  ask(ask_facts(name_), Step::facts);
  if (!channel) return;
  count_ = redis_.post(command({"PUBSUB", "NUMSUB", channel->str()}, name_.str()), {},
                       plus(begun_, answer_within_));
}

void Inquiry::drop() {
  for (auto* request : {&asked_, &count_}) {
    if (*request) redis_.drop(**request);
    request->reset();
  }
  step_ = Step::idle;
}

void Inquiry::ask(const Call& call, Step next) {
  if (asked_) redis_.drop(*asked_);
  asked_ = redis_.post(call, {}, plus(Clock::now(), answer_within_));
  step_ = next;
}

/// By a quorum, or as far as it will be.
bool Inquiry::answered(Redis::Request request) const {
  const auto replies =
      std::ranges::count_if(redis_.votes(request), [](const Vote& vote) { return vote.reply.has_value(); });
  return static_cast<std::size_t>(replies) >= redis_.quorum() || redis_.settled(request);
}

TimePoint Inquiry::wake_at() const { return under_way() && answered(*asked_) ? TimePoint::min() : kNever; }

void Inquiry::advance() {
  if (!under_way() || !answered(*asked_)) return;
  switch (step_) {
    case Step::idle: return;
    case Step::facts: {
      read_facts_of_all();
      Facts all;
      for (const KnownFacts& some : known_) all.insert(some.facts.begin(), some.facts.end());
      return ask(inspect_key(name_, all), Step::inspect);
    }
    case Step::inspect:
      replies_ = redis_.votes(*asked_);
      read_inspections();
      // Who has come between the two answers has facts by now.
      if (std::ranges::any_of(seen_, lacks_facts)) return ask(ask_facts(name_), Step::facts_again);
      break;
    case Step::facts_again:
      read_facts_of_all();
      read_inspections();
      break;
  }
  read_listeners_of_all();
  drop();
}

void Inquiry::read_facts_of_all() {
  known_.clear();
  for (const Vote& vote : redis_.votes(*asked_))
    known_.push_back(vote.reply ? read_facts(*vote.reply) : KnownFacts{});
}

void Inquiry::read_inspections() {
  seen_.clear();
  for (std::size_t node = 0; node < replies_.size(); ++node) {
    if (replies_[node].good_reply() == nullptr) continue;
    try {
      seen_.push_back(read_inspection(name_, known_[node], *replies_[node].good_reply()));
    } catch (const Error&) {
      continue;  // out of shape: it says nothing
    }
  }
}

void Inquiry::read_listeners_of_all() {
  if (!count_) return;
  for (const Vote& vote : redis_.votes(*count_))
    if (vote.reply) listeners_ = std::max(listeners_, read_listeners(*vote.reply));
}

}  // namespace rlock
