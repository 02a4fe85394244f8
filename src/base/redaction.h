#pragma once

#include <string>
#include <string_view>

namespace rlock {

/// From here on no text of this process shows this password. Every password that
/// we come to know is kept here: from whatever place, in use or not, the former
/// ones of a file that is read again, as written in a URL and as decoded.
void keep_secret(std::string_view password);

/// `foreign` as it may be shown: *** replaces every kept password, and user and password in every URL
/// ("redis://***@host"). Call it before the text is cut or escaped; otherwise a part of the password would
/// remain. If the server has cut a long password, the part that it left is replaced, too.
///
/// A password of less than four bytes is replaced where it stands alone, between characters that are neither
/// letters nor digits: it guards nothing, but texts must stay readable.
std::string redacted(std::string_view foreign);

/// The same for a line of our own, whose foreign parts are redacted already: it catches what the caller
/// forgot to redact. It leaves passwords that could be our own words (shorter than four bytes, or
/// lower-case letters only), and URLs that have a user but no password.
std::string redacted_line(std::string_view line);

}  // namespace rlock
