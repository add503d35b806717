// SPDX-License-Identifier: Apache-2.0
#include "model/input_nodes.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "tfile/name.h"

namespace tfile {
namespace {

// Files of deeper paths are refused: this bounds the recursion over them.
constexpr std::size_t kDepthMax = 32;

// The most numbers in one item: a basket (1 GiB) cannot hold more.
constexpr std::uint64_t kShapeMax = 1 << 28;

tl::unexpected<Error> invalid(const std::string& path, const std::string& reason) {
  return fail(ErrorKind::invalid, path + ": " + reason);
}

std::vector<std::string_view> components(std::string_view path) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

OfferedNode& child_of(OfferedNode& parent, std::string_view name) {
  for (OfferedNode& child : parent.children) {
    if (child.name == name) return child;
  }
  parent.children.push_back({std::string(name), {}, {}});
  return parent.children.back();
}

// Refuses names that no field or member may have.
Result<> check_name(const std::string& path, std::string_view component, std::size_t suffix_size) {
  const std::string name = unescape_name(component);
  if (component.empty()) return invalid(path, "a component of its path is empty");
  if (name.empty()) return invalid(path, "fields without a name cannot be written");
  if (name.find('\0') != name.npos) return invalid(path, "a name with a zero byte cannot be written");
  if (name.back() == '.') return invalid(path, "a name cannot end in '.', which the mount removes from field names");
  if (name.find('[') != name.npos || name.find(']') != name.npos) {
    return invalid(path, "ROOT takes brackets in a name for dimensions");
  }
  if (component.size() + suffix_size > kNameMax) return invalid(path, "its name is too long");
  return {};
}

// A member or a directory in a record whose name the layout uses is escaped. Its record may be taken for a table until
// something lies beside it, so a column or directory of a table may have such a name, too.
Result<> check_component(const std::string& path, std::string_view component, std::string_view suffix) {
  TRY_VOID(check_name(path, component, suffix.size()));
  const std::string name = unescape_name(component);
  if (component == escape_first_byte(name) && is_layout_name(name, suffix)) return {};
  const std::string shown = escape_name(name);
  return component == shown ? Result<>() : invalid(path, "the mount shows its name as " + shown);
}

}  // namespace

Result<std::vector<OfferedNode>> offered_nodes(std::span<const InputColumn> columns) {
  std::vector<OfferedNode> tops;
  std::unordered_map<std::string, std::size_t> directories;
  for (std::uint32_t i = 0; i < columns.size(); ++i) {
    const std::vector<std::string_view> parts = components(columns[i].path);
    if (parts.size() == 1) {
      tops.push_back({std::string(parts[0]), i, {}});
      continue;
    }
    const auto [found, is_new] = directories.try_emplace(std::string(parts[0]), tops.size());
    if (is_new) tops.push_back({std::string(parts[0]), {}, {}});
    OfferedNode* place = &tops[found->second];
    for (std::size_t part = 1; part < parts.size(); ++part) {
      if (place->column) return invalid(columns[i].path, "it is below a column");
      place = &child_of(*place, parts[part]);
    }
    if (place->column || !place->children.empty()) return invalid(columns[i].path, "duplicate name");
    place->column = i;
  }
  return tops;
}

std::string_view stem_of(const OfferedNode& node) {
  const auto typed = node.column ? parse_typed_name(node.name) : std::nullopt;
  return std::string_view(node.name).substr(0, typed ? typed->stem.size() : node.name.npos);
}

std::string field_name_of(const OfferedNode& node) { return unescape_name(stem_of(node)); }

const OfferedNode* offsets_in(const OfferedNode& directory, std::span<const InputColumn> columns) {
  const auto found = std::ranges::find_if(directory.children, [&](const OfferedNode& child) {
    return child.column && columns[*child.column].role == Role::offsets;
  });
  return found == directory.children.end() ? nullptr : &*found;
}

Result<> check_member_name(const std::string& path, const OfferedNode& member) {
  const std::string_view stem = stem_of(member);
  return check_component(path, stem, std::string_view(member.name).substr(stem.size()));
}

Result<InputColumn> offered_column(std::string path) {
  const std::vector<std::string_view> parts = components(path);
  const auto typed = parse_typed_name(parts.back());
  if (!typed) return invalid(path, "expected a name NAME.TYPE, with TYPE one of b1 i1 u1 i2 u2 i4 u4 i8 u8 f4 f8");
  if (parts.size() > kDepthMax + 1) return invalid(path, "it is nested too deeply");
  std::uint64_t count = 1;
  for (const std::uint32_t extent : typed->shape) {
    if (extent == 0) return invalid(path, "an extent is 0");
    if ((count *= extent) > kShapeMax) return invalid(path, "an item is larger than 1 GiB");
  }
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) TRY_VOID(check_component(path, parts[i], ""));
  InputColumn column;
  column.dtype = typed->dtype;
  column.shape = typed->shape;
  if (parts.size() == 1) {
    // A mount shows every column "offsets" of a table so.
    if (typed->stem != escape_first_byte("offsets"))
      TRY_VOID(check_component(path, typed->stem, parts[0].substr(typed->stem.size())));
  } else if (parts.back() == "offsets.i8") {
    column.role = Role::offsets;
  } else if (parts.back() == "chars.u1") {
    column.role = Role::chars;
  }
  column.path = std::move(path);
  return column;
}

}  // namespace tfile
