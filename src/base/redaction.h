#pragma once

#include <string>
#include <string_view>

namespace rlock {

/// From here on no text of this process shows this password. Every password that
/// we come to know is kept here: from whatever place, in use or not, the former
/// ones of a file that is read again, as written in a URL and as decoded.
void keep_secret(std::string_view password);

/// `foreign` as it may be shown or written: *** instead of every kept password, and of the user and password
/// in every URL ("redis://***@host"). Before it is cut or escaped, or a part of the password would remain; of
/// a long one that the server has cut, what is left of it.
///
/// A password of less than four bytes is replaced where it stands alone, between characters that are neither
/// letters nor digits: it guards nothing, but texts must stay readable.
std::string redacted(std::string_view foreign);

/// The same for a line that we have put together, where foreign text has been redacted already: nothing that
/// was forgotten there gets out. Passwords that could be words of our own (short ones, or of small letters
/// only) stay, and so do URLs with a user alone.
std::string redacted_line(std::string_view line);

}  // namespace rlock
