// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "bytes/kept_source.h"
#include "remote/server/url.h"
#include "source/open_local.h"
#include "source/remote_module.h"
#include "tfile/disk_cache.h"
#include "tfile/remote_listing.h"
#include "tfile/source.h"

namespace tfile {
namespace {

struct Scheme {
  std::string_view name;
  RemoteLibrary RemoteLibraries::*library;
  std::string_view library_name;
};
constexpr Scheme kSchemes[] = {
    {"http", &RemoteLibraries::http, "libcurl"},    {"https", &RemoteLibraries::http, "libcurl"},
    {"dav", &RemoteLibraries::http, "libcurl"},     {"davs", &RemoteLibraries::http, "libcurl"},
    {"s3", &RemoteLibraries::http, "libcurl"},      {"root", &RemoteLibraries::xrootd, "XRootD"},
    {"roots", &RemoteLibraries::xrootd, "XRootD"},  {"xroot", &RemoteLibraries::xrootd, "XRootD"},
    {"xroots", &RemoteLibraries::xrootd, "XRootD"},
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

// Errors: invalid, if none reads URLs of this scheme; those of remote_libraries().
Result<const RemoteLibrary*> library_of(const std::string& url) {
  const std::string_view scheme = scheme_of(url);
  const auto* known =
      std::ranges::find_if(kSchemes, [&](const Scheme& one) { return are_equal_but_case(one.name, scheme); });
  if (known == std::end(kSchemes))
    return fail(ErrorKind::invalid,
                without_secrets(url) + ": URL scheme \"" + std::string(scheme) +
                    "\" is not supported, expected http, https, dav, davs, s3, root, roots or xroot");
  TRY(const RemoteLibraries* const libraries, remote_libraries());
  const RemoteLibrary& library = libraries->*known->library;
  if (!library.open)
    return fail(ErrorKind::invalid, without_secrets(url) + ": this program was built without " +
                                        std::string(known->library_name) + ", which reads such URLs");
  return &library;
}

}  // namespace

bool is_url(std::string_view name) { return !scheme_of(name).empty(); }

std::string shown_name(const std::string& name) { return is_url(name) ? without_secrets(name) : name; }

Result<> read_range(const Source& source, ByteRange range, std::span<std::byte> into) {
  return source.read({&range, 1}, {&into, 1});
}

Result<std::shared_ptr<const Source>> open_source(const std::string& name, const RemoteOptions& options) {
  if (!is_url(name)) return open_local(name);
  TRY(const RemoteLibrary* const library, library_of(name));
  TRY(auto remote, library->open(name, options));
  return keep_bytes(std::move(remote));
}

Result<Identity> look_remote(const std::string& url, const RemoteOptions& options) {
  TRY(const RemoteLibrary* const library, library_of(url));
  return library->look(url, options);
}

ServerId origin_of_url(const std::string& url) {
  const auto library = library_of(url);
  return library ? (*library)->origin(url) : kLocalOrigin;
}

Result<RemoteListing> list_remote(const std::string& url, const RemoteOptions& options) {
  TRY(const RemoteLibrary* const library, library_of(url));
  return library->list(url, options);
}

Result<> prepare_cache_directory(const std::string& path) {
  TRY(const RemoteLibraries* const libraries, remote_libraries());
  return libraries->prepare_cache_directory(path);
}

}  // namespace tfile
