// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reply.h"

namespace tfilefs {

// Patterns of paths, as shells have them: "*" and "?" match no slash, and no period at the beginning of a name;
// "[a-z]" is one of several characters, "{a,b}" one of several texts. A backslash takes the meaning from the character
// behind it. Of a path, a name "**" is any number of directories without such a period, also none.

// Whether the text has one of these characters, with its meaning. Pure.
bool has_pattern(std::string_view text);

// The text in which all of these characters stand for themselves. Pure.
std::string as_pattern(std::string_view text);

// The text without the backslashes that make characters stand for themselves. Pure.
std::string unescaped(std::string_view text);

// Patterns without "{a,b}" that together match the same, in the order of the braces. A brace without its counterpart,
// or without a comma inside, stands for itself. Error: invalid, if there would be too many. Pure.
Result<std::vector<std::string>> without_braces(const std::string& pattern);

// Whether a name matches a pattern without braces and slashes. Pure.
bool matches(const std::string& pattern, const std::string& name);

// How a path below a directory stands to a pattern.
struct PathFit {
  bool leads = false;    // it may be a directory on the way to what matches
  bool matches = false;  // all of it matches
  bool below = false;    // it lies below what matches
  bool is_shown() const { return leads || matches || below; }
};

// A pattern of paths below a directory. Made without one, all paths lie below what matches.
class PathPattern {
 public:
  PathPattern() = default;
  // `pattern`: a path relative to the directory. Error: as without_braces().
  static Result<PathPattern> parse(const std::string& pattern);

  // `path`: relative, without "." and "..". Pure.
  PathFit fit(std::string_view path) const;

 private:
  std::vector<std::vector<std::string>> alternatives_;  // of each, the patterns of its names
};

// The names in a path; empty ones are left out. Pure.
std::vector<std::string> names_in(std::string_view path);

// A path with a pattern: the directory before the first name that has one (with the slash behind it; empty for the
// current one), and the pattern of the rest. Pure.
struct PatternedPath {
  std::string directory, pattern;
};
PatternedPath split_at_pattern(std::string_view path);

}  // namespace tfilefs
