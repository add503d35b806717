// SPDX-License-Identifier: Apache-2.0
#include "http/access.h"

#include <arpa/inet.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "http/header_text.h"
#include "tfile/local_file.h"

namespace tfilefs {
namespace {

constexpr std::string_view kTokenLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kTokenSize = 32;  // of 6 bits each
constexpr std::size_t kTokenLeast = 16, kTokenMost = 256;

bool is_same_token(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differs |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differs == 0;
}

std::optional<std::string> base64_decoded(std::string_view text) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string plain;
  unsigned bits = 0, count = 0;
  for (; !text.empty() && text.back() == '=';) text.remove_suffix(1);
  for (const char c : text) {
    const std::size_t value = kLetters.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6 | static_cast<unsigned>(value)) & 0xffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    plain += static_cast<char>(bits >> count & 0xff);
  }
  return plain;
}

bool authorizes(std::string_view header, std::string_view token) {
  const std::size_t space = std::min(header.find(' '), header.size());
  const std::string_view scheme = header.substr(0, space), rest = trimmed(header.substr(space));
  if (equals_without_case(scheme, "Bearer")) return is_same_token(rest, token);
  if (!equals_without_case(scheme, "Basic")) return false;
  const auto plain = base64_decoded(rest);
  const std::size_t colon = plain ? plain->find(':') : std::string::npos;
  return colon != std::string::npos && is_same_token(std::string_view(*plain).substr(colon + 1), token);
}

bool has_cookie(std::string_view header, std::string_view name, std::string_view token) {
  return std::ranges::any_of(list_items(header, ';'), [&](std::string_view each) {
    return each.starts_with(name) && each.substr(name.size()).starts_with('=') &&
           is_same_token(each.substr(name.size() + 1), token);
  });
}

// Without the port; nothing if it is none.
std::optional<std::string> host_without_port(std::string_view host) {
  const std::size_t end = host.starts_with('[') ? host.find(']') : host.find(':');
  if (host.starts_with('[') && end == std::string_view::npos) return std::nullopt;
  const std::size_t size = host.starts_with('[') ? end + 1 : std::min(end, host.size());
  const std::string_view port = host.substr(size);
  const bool is_port =
      port.empty() || (port.front() == ':' && port.find_first_not_of("0123456789", 1) == std::string_view::npos);
  if (!is_port || size == 0) return std::nullopt;
  return std::string(host.substr(0, size));
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  if (host.front() == '[') return ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), address.data()) == 1;
  return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1;
}

}  // namespace

Result<std::string> make_token() {
  std::array<unsigned char, kTokenSize> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return tfile::system_error("no random numbers", errno);
  std::string token;
  for (const unsigned char byte : bytes) token += kTokenLetters[byte % kTokenLetters.size()];
  return token;
}

bool is_good_token(std::string_view token) {
  return token.size() >= kTokenLeast && token.size() <= kTokenMost &&
         token.find_first_not_of(kTokenLetters) == std::string_view::npos;
}

bool shows_token(const Credentials& given, std::string_view token, std::string_view cookie) {
  return (given.authorization && authorizes(*given.authorization, token)) ||
         (given.cookie && has_cookie(*given.cookie, cookie, token)) ||
         (given.query && is_same_token(*given.query, token));
}

std::string cookie_name(int port) { return "tfilefs-" + std::to_string(port); }

std::string set_cookie(std::string_view token, std::string_view name) {
  return std::string(name) + "=" + std::string(token) + "; Path=/; HttpOnly; SameSite=Strict";
}

bool is_own_host(std::string_view host, const std::vector<std::string>& names) {
  const auto name = host_without_port(host);
  if (!name) return false;
  return is_address(*name) || equals_without_case(*name, "localhost") ||
         std::ranges::any_of(names, [&](const std::string& each) { return equals_without_case(*name, each); });
}

bool is_own_origin(std::string_view origin, std::string_view host) {
  const std::size_t end = origin.find("://");
  return end != std::string_view::npos && equals_without_case(origin.substr(end + 3), host);
}

}  // namespace tfilefs
