#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cmd/cli/options.h"

namespace rlock {

/// A candidate for a shell to offer, and its meaning.
struct Candidate {
  std::string word;
  std::string meaning = {};
};

/// The candidates for the last word of a command line. No server was asked yet: see `offer`.
struct Completion {
  std::vector<Candidate> words;
  Offer offer = Offer::nothing;  ///< further candidates; choices and examples are already in `words`
  std::size_t kept = 0;          ///< so many bytes of the last word stay: "--type=", "-k"
  /// The index of the word that starts a command with its own completion.
  std::optional<std::size_t> command = {};
  std::string key = {};                  ///< the KEY on the command line
  std::vector<std::string> server = {};  ///< the options on the command line that name the server
};

/// `words`: as the shell passes them, "rlock" first; the last one is being typed.
Completion complete(const std::vector<std::string>& words);

}  // namespace rlock
