// What fmt's headers announce and a libfmt.a would hold, compiled once. Distributions ship only a shared libfmt,
// which is slow to start with; FMT_HEADER_ONLY would compile all this again in every file (2.5 s each).
// Without std::locale, which would be asked for a separator of thousands that nobody prints.
#define FMT_STATIC_THOUSANDS_SEPARATOR ','
#include <fmt/format-inl.h>

namespace fmt::detail {
template void vformat_to(buffer<char>&, string_view, format_args, locale_ref);
template void buffer<char>::append(const char*, const char*);
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
template auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
}  // namespace fmt::detail
