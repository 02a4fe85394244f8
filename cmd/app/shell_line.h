#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/app/completion.h"

namespace rlock {

/// The command line from a shell, and the answer in the form of that shell.
///
/// stdin has texts, each followed by NUL. From zsh and fish these are the words up to the cursor, without
/// quotes. From bash they are the line up to the cursor, and then its COMP_WORDS as typed. The answer begins
/// with a line that says what to offer. The candidates follow, one a line:
///
///     words N    the candidates follow; N bytes of the last word stand before each of them
///     files N    names of files, folders N: names of folders; the shell finds and quotes them better
///     command N  the candidates of the command that starts at word N (in bash: of COMP_WORDS)
///
/// A candidate has the form that its shell needs. For bash, it is the quoted text that readline inserts; for
/// zsh, the form of _describe; for fish, the whole word. For zsh and fish, a description follows.
class ShellLine {
 public:
  ShellLine(std::string_view shell, std::string_view input);

  const std::vector<std::string>& words() const { return words_; }  ///< the words as rlock would get them

  std::string answer(const Completion& found) const;

 private:
  void join_readline_words(const std::vector<std::string>& given);
  std::string line_for(const Candidate& candidate, std::size_t kept) const;

  std::string shell_;
  std::vector<std::string> words_;
  std::vector<std::size_t> begins_;  ///< for bash: the index in COMP_WORDS at which each word begins
  std::string typed_;                ///< the last word with its quotes
  std::size_t behind_ = 0;           ///< the number of its bytes that readline keeps
};

}  // namespace rlock
