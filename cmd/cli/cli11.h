#pragma once

// CLI11 without streams and locales. Its headers join words by std::ostringstream, and ask std::locale for
// blanks. That would link all facets of the standard library (0.4 MB) and open its streams before main()
// (50,000 instructions). So within CLI11 these names of std have the definitions below. They do what the
// parser needs: text is joined, and blanks are those of the "C" locale. The rest (files, tables of help) only
// has to compile. A newer CLI11 than those we have tried uses the standard library.

#include <CLI/Version.hpp>

#if CLI11_VERSION_MAJOR == 2 && CLI11_VERSION_MINOR < 5
#define CLI11_HAS_FILESYSTEM 0  // its checks of files would link all of std::filesystem

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iomanip>
#include <istream>
#include <iterator>
#include <limits>
#include <locale>
#include <map>
#include <memory>
#include <numeric>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming): CLI11 uses these names
namespace CLI::std {
using namespace ::std;

struct locale {};
template <class Char>
bool isspace(Char byte, locale) {
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}
template <class Char>
Char tolower(Char byte, locale) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<Char>(byte - 'A' + 'a') : byte;
}
template <class Char>
bool isalpha(Char byte, locale) {
  return tolower(byte, locale{}) >= 'a' && tolower(byte, locale{}) <= 'z';
}

/// Replaces all streams of CLI11: a text that grows at its end and is read by lines. It opens no file.
class stream {
 public:
  stream() = default;
  explicit stream(string text) : text_(::std::move(text)) {}

  template <class Value>
  stream& operator<<(const Value& value) {
    if constexpr (is_same_v<Value, char>)
      text_ += value;
    else if constexpr (is_convertible_v<const Value&, string_view>)
      text_ += string_view{value};
    else if constexpr (is_arithmetic_v<Value>)
      text_ += to_string(value);
    return *this;
  }
  template <class Value>
  stream& operator>>(Value&) {
    good_ = false;  // rlock reads values itself
    return *this;
  }
  stream& put(char byte) { return *this << byte; }
  bool get_line(string& line, char end) {
    good_ = at_ < text_.size();
    const size_t stop = min(text_.find(end, at_), text_.size());
    line = good_ ? text_.substr(at_, stop - at_) : string{};
    at_ = stop + 1;
    return good_;
  }

  const string& str() const { return text_; }
  void str(string text) { *this = stream{::std::move(text)}; }
  void precision(int) {}
  size_t tellp() const { return text_.size(); }
  bool good() const { return good_; }
  bool fail() const { return !good_; }
  explicit operator bool() const { return good_; }
  const stream* rdbuf() const { return this; }
  size_t in_avail() const { return text_.size() - min(at_, text_.size()); }

 private:
  string text_;
  size_t at_ = 0;
  bool good_ = true;
};
using istream = stream;
using ostream = stream;
using istringstream = stream;
using ostringstream = stream;
using stringstream = stream;
using ifstream = stream;

inline bool getline(stream& from, string& line, char end = '\n') { return from.get_line(line, end); }
extern stream cout, cerr;  // CLI11 could print help and warnings there, but rlock does not ask for them
inline constexpr string_view flush;
inline constexpr char endl = '\n';
inline constexpr string_view left;
constexpr string_view setw(int) { return {}; }

}  // namespace CLI::std
// NOLINTEND(readability-identifier-naming)
#endif

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
