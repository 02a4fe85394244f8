#pragma once

#include <string>
#include <string_view>

namespace rlock {

/// From now on redacted() and redacted_line() hide this password. Call it for every password that rlock reads, even
/// if it is not used. For a password from a URL, call it with both forms: as it stands there, and decoded. If a
/// password file changes, its older passwords stay hidden.
void keep_secret(std::string_view password);

/// `foreign` without passwords: *** replaces every kept password, and user and password in every URL
/// ("redis://***@host"). Call it before the text is cut or escaped; otherwise a part of the password would remain. If
/// the server has cut a long password, what is left of it is replaced too (from 16 bytes on).
///
/// A password of less than four bytes is replaced only between characters that are neither letters nor digits. Such a
/// password protects nothing, and texts must stay readable.
std::string redacted(std::string_view foreign);

/// redacted() for a line of our own, whose foreign parts are redacted already: it catches parts that the caller
/// forgot. It leaves passwords that could be our own words (shorter than four bytes, or lower-case letters
/// only), and URLs with a user but no password.
std::string redacted_line(std::string_view line);

}  // namespace rlock
