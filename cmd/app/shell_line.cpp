#include "cmd/app/shell_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/text.h"

namespace rlock {
namespace {

/// Quotes a word for bash, so that bash executes nothing in it. It uses backslashes only, so that the common
/// prefix of two candidates stays a prefix of both.
std::string quoted_for_bash(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+";
  std::string quoted;
  for (const char c : word) {
    const bool ascii = static_cast<unsigned char>(c) < 0x80U;
    if (ascii && kPlain.find(c) == std::string_view::npos) quoted += '\\';
    quoted += c;
  }
  return quoted;
}

/// The word as bash would read it, as far as this is certain.
std::string without_quotes(std::string_view word) {
  const bool quoted = word.size() >= 2 && (word.front() == '\'' || word.front() == '"');
  if (quoted && word.back() == word.front()) return std::string{word.substr(1, word.size() - 2)};
  std::string plain;
  if (const char* home = std::getenv("HOME"); home != nullptr && word.starts_with("~/")) {
    plain = home;
    word.remove_prefix(1);
  }
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\\' && i + 1 < word.size()) ++i;
    plain += word[i];
  }
  return plain;
}

std::string_view kind_of(Offer offer) {
  switch (offer) {
    case Offer::file: return "files";
    case Offer::folder: return "folders";
    case Offer::nothing:
    case Offer::choices:
    case Offer::examples:
    case Offer::profile:
    case Offer::owner:
    case Offer::key:
    case Offer::counter: break;
  }
  return "words";
}

}  // namespace

ShellLine::ShellLine(std::string_view shell, std::string_view input) : shell_(shell) {
  std::vector<std::string> given = split(input, '\0');
  if (!given.empty()) given.pop_back();  // the empty text behind the last NUL
  if (shell_ == "bash") {
    join_readline_words(given);
    return;
  }
  words_ = std::move(given);
  if (!words_.empty()) typed_ = words_.back();
}

/// Joins the words that readline has split at ':' and '=', because no blank stands between them.
void ShellLine::join_readline_words(const std::vector<std::string>& given) {
  if (given.empty()) return;
  std::string_view rest = given.front();
  std::vector<std::string> joined_words;
  for (std::size_t i = 1; i < given.size(); ++i) {
    const std::size_t blanks = std::min(rest.find_first_not_of(" \t\n"), rest.size());
    rest.remove_prefix(blanks);
    const bool last = i + 1 == given.size();
    const std::string part{last ? rest : std::string_view{given[i]}};  // the cursor may stand inside a word
    if (i == 1 || blanks > 0) {
      joined_words.emplace_back();
      begins_.push_back(i - 1);
    }
    const bool separator = part == ":" || part == "=";
    if (last) behind_ = joined_words.back().size() + (separator ? part.size() : 0);
    joined_words.back() += part;
    rest.remove_prefix(rest.starts_with(part) ? part.size() : 0);
  }
  if (joined_words.empty()) return;
  typed_ = joined_words.back();
  for (const std::string& word : joined_words) {
    // An option is not quoted, but its value may be.
    const std::size_t value = word.starts_with("--") ? word.find('=') + 1 : 0;
    words_.push_back(word.substr(0, value) + without_quotes(std::string_view{word}.substr(value)));
  }
}

std::string ShellLine::line_for(const Candidate& candidate, std::size_t kept) const {
  if (shell_ == "bash") {
    const std::string word = typed_.substr(0, kept) + quoted_for_bash(candidate.word);
    return word.starts_with(typed_) ? word.substr(behind_) + "\n" : "";
  }
  if (shell_ == "zsh") {
    const std::string word = escaped(candidate.word, "\\:");
    return candidate.meaning.empty() ? word + "\n" : fmt::format("{}:{}\n", word, candidate.meaning);
  }
  return fmt::format("{}{}\t{}\n", typed_.substr(0, kept), candidate.word, candidate.meaning);
}

std::string ShellLine::answer(const Completion& found) const {
  if (found.command)
    return fmt::format("command {}\n", begins_.empty() ? *found.command : begins_.at(*found.command));
  std::string text = fmt::format("{} {}\n", kind_of(found.offer), found.kept);
  for (const Candidate& candidate : found.words) text += line_for(candidate, found.kept);
  return text;
}

}  // namespace rlock
