#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/cli/options.h"

namespace rlock {

/// A word that a shell may offer, and what it means.
struct Candidate {
  std::string word;
  std::string meaning = {};
};

/// What may stand where the last word of a command line is being typed. Nobody has been asked yet.
struct Completion {
  std::vector<Candidate> words;
  Offer offer = Offer::nothing;  ///< of what else, unless it is choices or examples: those are in `words`
  std::size_t kept = 0;          ///< what of the last word stands before: "--type=", "-k"
  std::optional<std::size_t> command = {};  ///< the word with which a command begins that completes by itself
  std::string key = {};                     ///< the KEY that has been typed
  std::vector<std::string> server = {};     ///< which server has been named, and how to speak to it: options
};

/// `words`: as the shell would give them to rlock, "rlock" first; the last one is being typed.
Completion complete(const std::vector<std::string>& words);

}  // namespace rlock
