// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "far/http_source.h"
#include "far/kept_source.h"
#include "far/url.h"
#include "far/xrootd_source.h"
#include "source/open_local.h"
#include "tfile/source.h"

namespace tfile {
namespace {

using Open = Result<std::shared_ptr<const Source>> (*)(const std::string&, const FarOptions&);

struct Scheme {
  std::string_view name;
  Open open;  // null: its library was left out of this build
  std::string_view library;
};

#ifdef TFILEFS_HTTP
constexpr Open kHttp = open_http;
#else
constexpr Open kHttp = nullptr;
#endif
#ifdef TFILEFS_XROOTD
constexpr Open kXrootd = open_xrootd;
#else
constexpr Open kXrootd = nullptr;
#endif

constexpr Scheme kSchemes[] = {
    {"http", kHttp, "libcurl"},   {"https", kHttp, "libcurl"},  {"dav", kHttp, "libcurl"},
    {"davs", kHttp, "libcurl"},   {"s3", kHttp, "libcurl"},     {"root", kXrootd, "XRootD"},
    {"roots", kXrootd, "XRootD"}, {"xroot", kXrootd, "XRootD"}, {"xroots", kXrootd, "XRootD"},
};

// RFC 3986: a letter, then letters, digits, "+", "-" and ".".
std::string_view scheme_of(std::string_view name) {
  const std::size_t end = name.find("://");
  if (end == std::string_view::npos || end == 0) return {};
  const std::string_view scheme = name.substr(0, end);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto may_follow = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  };
  return is_letter(scheme[0]) && std::ranges::all_of(scheme, may_follow) ? scheme : std::string_view();
}

bool are_equal_but_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

bool is_url(std::string_view name) { return !scheme_of(name).empty(); }

std::string shown_name(const std::string& name) { return is_url(name) ? without_secrets(name) : name; }

Result<> read_range(const Source& source, ByteRange range, std::span<std::byte> into) {
  return source.read({&range, 1}, {&into, 1});
}

Result<std::shared_ptr<const Source>> open_source(const std::string& name, const FarOptions& options) {
  const std::string_view scheme = scheme_of(name);
  if (scheme.empty()) return open_local(name);
  const auto* known =
      std::ranges::find_if(kSchemes, [&](const Scheme& one) { return are_equal_but_case(one.name, scheme); });
  if (known == std::end(kSchemes))
    return fail(ErrorKind::invalid, without_secrets(name) + ": URLs of the scheme \"" + std::string(scheme) +
                                        "\" are not read, only http, https, dav, davs, s3, root, roots and xroot");
  if (!known->open)
    return fail(ErrorKind::invalid, without_secrets(name) + ": this program was built without " +
                                        std::string(known->library) + ", which reads such URLs");
  TRY(auto far, known->open(name, options));
  return keep_bytes(std::move(far));
}

}  // namespace tfile
