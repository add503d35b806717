// SPDX-License-Identifier: Apache-2.0
#include "remote/http/http_token.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "tfile/descriptor.h"
#include "tfile/mutex.h"

namespace tfile {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kTokenMax = 16 << 10;  // servers take heads of 8 to 16 KiB
constexpr std::chrono::minutes kBelieved{1};

// Without white space at its ends. What has other characters than a token may have is none: it would break the head.
std::string token_in(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  const bool is_token = std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
  return is_token ? std::string(text) : std::string();
}

// `own`: only if it is this user's. Anybody can put a file into /tmp, and a link to another file of this user, whose
// content would be told as a token: flags O_NOFOLLOW.
std::optional<std::string> token_of_file(const std::string& path, bool own, int flags = 0) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (own && status.st_uid != ::geteuid()) return std::nullopt;
  std::array<char, kTokenMax> text;
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  if (size <= 0) return std::nullopt;
  return token_in({text.data(), static_cast<std::size_t>(size)});
}

std::string found_token() {
  if (const char* text = std::getenv("BEARER_TOKEN"); text && *text) return token_in(text);
  if (const char* path = std::getenv("BEARER_TOKEN_FILE"); path && *path)
    return token_of_file(path, false).value_or("");
  const std::string name = "/bt_u" + std::to_string(::geteuid());
  if (const char* directory = std::getenv("XDG_RUNTIME_DIR"); directory && *directory)
    if (auto token = token_of_file(directory + name, true)) return *std::move(token);
  return token_of_file("/tmp" + name, true, O_NOFOLLOW).value_or("");
}

}  // namespace

std::string bearer_token(bool anew) {
  static Mutex token_mutex{"token_mutex", "", "a read"};
  static std::string token GUARDED_BY(token_mutex);
  static std::optional<Clock::time_point> looked_at GUARDED_BY(token_mutex);
  const Lock lock(token_mutex);
  const Clock::time_point now = Clock::now();
  if (anew || !looked_at || now - *looked_at > kBelieved) {
    token = found_token();
    looked_at = now;
  }
  return token;
}

bool is_confidential(std::string_view url) {
  if (url.starts_with("https://")) return true;
  constexpr std::string_view kPlain = "http://";
  if (!url.starts_with(kPlain)) return false;
  std::string_view host = url.substr(kPlain.size());
  host = host.substr(0, host.find_first_of("/?#"));
  if (const std::size_t at = host.rfind('@'); at != std::string_view::npos) host.remove_prefix(at + 1);
  if (host.starts_with("[::1]")) return true;
  host = host.substr(0, host.find(':'));
  const bool is_number = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || (is_number && host.starts_with("127."));
}

}  // namespace tfile
