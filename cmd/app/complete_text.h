#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/app/complete.h"

namespace rlock {

/// A command line as a shell hands it over, and how that shell wants the candidates.
///
/// On stdin, each followed by NUL: from zsh and fish the words up to the cursor, without quotes; from bash the line up
/// to the cursor, and its COMP_WORDS as they were typed. On stdout a line that says what is to be offered, and then the
/// candidates, one a line:
///
///     words N      the lines that follow; N bytes of the last word stand before each of them
///     files N      names of files, folders N: of folders; the shell knows better how to find and quote them
///     command N    what the command offers that begins with word N (of bash: of COMP_WORDS)
///
/// A candidate is, for bash, the quoted text that readline inserts; for zsh, the form that _describe takes;
/// for fish, the whole word. zsh and fish get a description behind it.
class ShellLine {
 public:
  ShellLine(std::string_view shell, std::string_view input);

  const std::vector<std::string>& words() const { return words_; }  ///< as rlock would be given them

  std::string answer(const Completion& found) const;

 private:
  void join_readline_words(const std::vector<std::string>& given);
  std::string line_for(const Candidate& candidate, std::size_t kept) const;

  std::string shell_;
  std::vector<std::string> words_;
  std::vector<std::size_t> begins_;  ///< of bash: with which of COMP_WORDS each word begins
  std::string typed_;                ///< the last word with its quotes
  std::size_t behind_ = 0;           ///< bytes of it that readline leaves alone
};

}  // namespace rlock
