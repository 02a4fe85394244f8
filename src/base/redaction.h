#pragma once

#include <string>
#include <string_view>

namespace rlock {

/// From now on no text of this process shows this password. Call it for every password that we see: from any
/// source, used or not, and in both forms, as in a URL and decoded. Older passwords of a file stay hidden.
void keep_secret(std::string_view password);

/// `foreign` in a form that may be shown. *** replaces every kept password, and user and password in every
/// URL ("redis://***@host"). Call it before the text is cut or escaped; otherwise a part of the password
/// would remain. If the server has cut a long password, the remaining part is replaced too.
///
/// A password of less than four bytes is replaced only between characters that are neither letters nor
/// digits. Such a password protects nothing, but texts must stay readable.
std::string redacted(std::string_view foreign);

/// The same for a line of our own, whose foreign parts are redacted already: it catches parts that the caller
/// forgot. It leaves passwords that could be our own words (shorter than four bytes, or lower-case letters
/// only), and URLs with a user but no password.
std::string redacted_line(std::string_view line);

}  // namespace rlock
