#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rlock {

/// The keys or the arguments of a call. Copies share the words, because a call is copied into each request and list
/// of followers. With real copies, copying was an eighth of the work of a start.
class CallWords {
 public:
  CallWords() = default;
  CallWords(std::vector<std::string> words)  // NOLINT(google-explicit-constructor): it is such a list
      : words_(words.empty() ? nullptr : std::make_shared<std::vector<std::string>>(std::move(words))) {}
  CallWords(std::initializer_list<std::string> words) : CallWords(std::vector<std::string>{words}) {}

  /// The words, to change them. No copy shares them any more.
  std::vector<std::string>& edit() {
    if (words_ == nullptr || words_.use_count() > 1)
      words_ = std::make_shared<std::vector<std::string>>(list());
    return *words_;
  }

  const std::vector<std::string>& list() const noexcept {
    static const std::vector<std::string> none;
    return words_ != nullptr ? *words_ : none;
  }
  operator const std::vector<std::string>&() const noexcept {  // NOLINT(google-explicit-constructor)
    return list();
  }

  auto begin() const noexcept { return list().begin(); }
  auto end() const noexcept { return list().end(); }
  std::size_t size() const noexcept { return list().size(); }
  bool empty() const noexcept { return list().empty(); }
  const std::string& front() const { return list().front(); }
  const std::string& back() const { return list().back(); }
  const std::string& operator[](std::size_t at) const { return list()[at]; }
  const std::string& at(std::size_t at) const { return list().at(at); }

  friend bool operator==(const CallWords& one, const CallWords& other) { return one.list() == other.list(); }

 private:
  std::shared_ptr<std::vector<std::string>> words_;  ///< null: none
};

}  // namespace rlock
