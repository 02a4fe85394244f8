#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rlock::model {

/// Up to this many fields or members are kept in one piece, as in Redis; if there are more, they get an index. The
/// explorer copies small values all the time, and a fleet has a line of 100,000 waiters.
constexpr std::size_t kFew = 128;

/// The fields of a hash: in order of insertion while they are few, in any order if they are many.
class Fields {
 public:
  using Field = std::pair<std::string, std::string>;

  std::size_t size() const noexcept { return fields_.size(); }
  bool empty() const noexcept { return fields_.empty(); }
  auto begin() const noexcept { return fields_.begin(); }
  auto end() const noexcept { return fields_.end(); }

  std::string* find(const std::string& name) {
    const auto at = position(name);
    return at ? &fields_[*at].second : nullptr;
  }

  /// Returns whether the field is new; an existing field keeps its content.
  bool add(const std::string& name, std::string content) {
    if (position(name)) return false;
    fields_.emplace_back(name, std::move(content));
    if (fields_.size() <= kFew) return true;
    if (index_.empty()) {
      for (std::size_t i = 0; i < fields_.size(); ++i) index_[fields_[i].first] = i;
    } else {
      index_[name] = fields_.size() - 1;
    }
    return true;
  }

  bool erase(const std::string& name) {
    const auto at = position(name);
    if (!at) return false;
    if (index_.empty()) {
      fields_.erase(fields_.begin() + static_cast<std::ptrdiff_t>(*at));
      return true;
    }
    index_.erase(name);
    if (*at + 1 != fields_.size()) {
      fields_[*at] = std::move(fields_.back());
      index_[fields_[*at].first] = *at;
    }
    fields_.pop_back();
    return true;
  }

 private:
  std::optional<std::size_t> position(const std::string& name) const {
    if (!index_.empty()) {
      const auto found = index_.find(name);
      return found != index_.end() ? std::optional{found->second} : std::nullopt;
    }
    const auto found = std::ranges::find(fields_, name, &Field::first);
    if (found == fields_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - fields_.begin());
  }

  std::vector<Field> fields_;
  std::unordered_map<std::string, std::size_t> index_;  ///< empty until there are more than kFew
};

/// The members of a sorted set, by score and name.
class Members {
 public:
  using Member = std::pair<double, std::string>;

  std::size_t size() const noexcept { return members_.size(); }
  bool empty() const noexcept { return members_.empty(); }
  const Member& operator[](std::size_t place) const { return members_[place]; }
  auto begin() const noexcept { return members_.begin(); }
  auto end() const noexcept { return members_.end(); }

  std::optional<double> score(const std::string& name) const {
    if (!scores_.empty()) {
      const auto found = scores_.find(name);
      return found != scores_.end() ? std::optional{found->second} : std::nullopt;
    }
    const auto found = std::ranges::find(members_, name, &Member::second);
    return found != members_.end() ? std::optional{found->first} : std::nullopt;
  }

  /// Returns whether the member is new.
  bool set(const std::string& name, double score) {
    const auto before = this->score(name);
    if (before == score) return false;
    if (before) erase(name);
    const Member member{score, name};
    members_.insert(std::ranges::lower_bound(members_, member), member);
    if (!scores_.empty()) {
      scores_[name] = score;
    } else if (members_.size() > kFew) {
      for (const auto& [its_score, its_name] : members_) scores_[its_name] = its_score;
    }
    return !before;
  }

  bool erase(const std::string& name) {
    const auto before = score(name);
    if (!before) return false;
    members_.erase(std::ranges::lower_bound(members_, Member{*before, name}));
    scores_.erase(name);
    return true;
  }

  /// The index of the first member with a score of at least `score`; `excluded`: of more than `score`.
  std::size_t first_from(double score, bool excluded) const {
    const auto found = excluded ? std::ranges::upper_bound(members_, score, {}, &Member::first)
                                : std::ranges::lower_bound(members_, score, {}, &Member::first);
    return static_cast<std::size_t>(found - members_.begin());
  }

  void erase(std::size_t from, std::size_t to) {
    if (!scores_.empty())
      for (std::size_t i = from; i < to; ++i) scores_.erase(members_[i].second);
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(from),
                   members_.begin() + static_cast<std::ptrdiff_t>(to));
  }

 private:
  std::vector<Member> members_;
  std::unordered_map<std::string, double> scores_;  ///< empty until there are more than kFew
};

}  // namespace rlock::model
