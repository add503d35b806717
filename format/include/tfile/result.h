// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cerrno>
#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <type_traits>
#include <utility>

namespace tfile {

enum class ErrorKind : std::uint8_t {
  damaged,      // the bytes contradict the format
  unsupported,  // the bytes are valid, but this code cannot read them
  not_found,
  io,     // the storage failed; see `system_errno`
  stale,  // the source changed after it was opened
  timed_out,
  no_space,   // or no memory at this moment
  too_large,  // takes more memory at once than it may ever have
  denied,
  busy,
  exists,
  not_empty,
  invalid,  // the request makes no sense
};

// One error, reported once, where it is known. The rooms above add the path; only `fuse/errno` chooses an errno.
struct Error {
  ErrorKind kind = ErrorKind::damaged;
  std::string text;
  std::int64_t offset = -1;  // byte offset in the file concerned, or -1
  int system_errno = 0;
  std::string source = {};  // the name of that file, if it is not the one that the call was about
};

// A value or an Error. It is a class of its own, not an alias, so that the compiler warns about an unused result.
template <class T = void>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  Result(tl::expected<T, Error> other) : tl::expected<T, Error>(std::move(other)) {}
  Result() = default;
  Result(Result&&) = default;
  Result& operator=(Result&&) = default;
  // tl::expected takes copies for something that cannot throw, and ends the process where there is no memory for one.
  Result(const Result& other) requires std::is_void_v<T> || std::is_copy_constructible_v<T>
      : tl::expected<T, Error>(copied(other)) {}
  Result& operator=(const Result& other) requires std::is_void_v<T> || std::is_copy_constructible_v<T> {
    return *this = Result(other);
  }

 private:
  static tl::expected<T, Error> copied(const Result& other) {
    if (!other) return tl::unexpected<Error>(Error(other.error()));
    if constexpr (std::is_void_v<T>)
      return {};
    else
      return T(*other);
  }
};

inline tl::unexpected<Error> fail(ErrorKind kind, std::string text, std::int64_t offset = -1, int system_errno = 0) {
  return tl::unexpected<Error>(Error{kind, std::move(text), offset, system_errno});
}

// There is not enough memory.
inline tl::unexpected<Error> no_memory(std::string text) {
  return fail(ErrorKind::no_space, std::move(text), -1, ENOMEM);
}

// Work that was ended before its end. It is not logged.
inline tl::unexpected<Error> cancelled(std::string text = "cancelled: no request is waiting for the result") {
  return fail(ErrorKind::io, std::move(text), -1, ECANCELED);
}
inline bool is_cancelled(const Error& error) { return error.system_errno == ECANCELED; }

}  // namespace tfile

#define TFILE_JOIN_(a, b) a##b
#define TFILE_JOIN(a, b) TFILE_JOIN_(a, b)
#define TFILE_TRY_(result, declaration, ...)                                   \
  auto result = (__VA_ARGS__);                                                 \
  if (!result) return tl::unexpected<tfile::Error>(std::move(result).error()); \
  declaration = *std::move(result)

// TFILE_TRY(auto key, read_key(cursor)): declares the value, or returns the error to the caller.
#define TFILE_TRY(declaration, ...) TFILE_TRY_(TFILE_JOIN(try_result_, __COUNTER__), declaration, __VA_ARGS__)

// TFILE_TRY_VOID(check(x)): returns the error to the caller if there is one.
#define TFILE_TRY_VOID(...)                                               \
  do {                                                                    \
    if (auto try_result = (__VA_ARGS__); !try_result)                     \
      return tl::unexpected<tfile::Error>(std::move(try_result).error()); \
  } while (false)

#ifdef TFILE_SHORT_NAMES  // in the project's own sources
#define TRY TFILE_TRY
#define TRY_VOID TFILE_TRY_VOID
#endif
