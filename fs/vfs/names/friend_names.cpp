// SPDX-License-Identifier: Apache-2.0
#include "vfs/names/friend_names.h"

#include "vfs/names/chain_names.h"

namespace tfilefs {
namespace {

// False for what is no name of a column: the rest of a path, of a URL or of a pattern.
bool may_be_key(std::string_view text) {
  return !text.empty() && text.find_first_of("/:*?[]{}@") == std::string_view::npos && !text.ends_with(".root");
}

}  // namespace

std::size_t friend_key_begin(std::string_view text) {
  const std::size_t source = text.find('=') + 1;
  const std::size_t at = text.rfind('@');
  if (source == 0 || at == std::string_view::npos || at <= source || !may_be_key(text.substr(at + 1)))
    return std::string_view::npos;
  return is_there(std::string(text.substr(source))) ? std::string_view::npos : at + 1;
}

Result<NamedFriend> parse_friend(std::string_view text) {
  const std::size_t equals = text.find('=');
  NamedFriend named;
  named.alias = text.substr(0, equals);
  const bool is_alias = !named.alias.empty() && named.alias[0] != '.' && named.alias.find('/') == std::string::npos;
  if (equals == std::string_view::npos || equals + 1 == text.size() || !is_alias)
    return tfile::fail(ErrorKind::invalid, "expected ALIAS=SOURCE");
  const std::size_t key = friend_key_begin(text);
  named.source = text.substr(equals + 1, key == std::string_view::npos ? key : key - equals - 2);
  if (key == std::string_view::npos) return named;
  const std::string_view names = text.substr(key);
  const std::size_t comma = names.find(',');
  named.key = FriendKey{std::string(names.substr(0, comma)),
                        comma == std::string_view::npos ? "" : std::string(names.substr(comma + 1))};
  return named;
}

}  // namespace tfilefs
