// SPDX-License-Identifier: Apache-2.0
#include "vfs/chain/chain_index.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "descriptor.h"
#include "staging/journal/file_place.h"
#include "tfile/local_file.h"
#include "vfs/names/name_index.h"

namespace tfilefs {
namespace {

using Cbor = nlohmann::json;
using tfile::Column;
using tfile::ColumnId;
using tfile::Node;

// Another number for another form: such a file is made anew.
constexpr int kForm = 5;

template <class T>
Cbor binary(const std::vector<T>& numbers) {
  std::vector<std::uint8_t> bytes(numbers.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return Cbor::binary(std::move(bytes));
}
template <class T>
std::vector<T> numbers(const Cbor& from) {
  const auto& bytes = from.get_binary();
  std::vector<T> all(bytes.size() / sizeof(T));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size() * sizeof(T));
  return all;
}

Cbor optional(const std::optional<ColumnId>& id) { return id ? Cbor(*id) : Cbor(); }
std::optional<ColumnId> optional(const Cbor& from) {
  return from.is_null() ? std::nullopt : std::optional(from.get<ColumnId>());
}

Cbor to_json(const Node& n) {
  return {static_cast<int>(n.kind), n.name,         n.original_name, n.branch_name,           n.children,
          optional(n.column),       n.alternatives, n.tag,           static_cast<int>(n.date)};
}
Node node_of(const Cbor& from) {
  Node n;
  n.kind = static_cast<tfile::NodeKind>(from.at(0).get<int>());
  n.name = from.at(1);
  n.original_name = from.at(2);
  n.branch_name = from.at(3);
  n.children = from.at(4).get<std::vector<tfile::NodeId>>();
  n.column = optional(from.at(5));
  n.alternatives = from.at(6).get<std::vector<std::string>>();
  n.tag = from.at(7);
  n.date = static_cast<tfile::DateKind>(from.at(8).get<int>());
  return n;
}

Cbor to_json(const Column& c) {
  return {c.path,
          c.name,
          static_cast<int>(c.dtype),
          static_cast<int>(c.role),
          c.optional,
          c.shape,
          c.lists,
          optional(c.counter),
          c.branch,
          c.field,
          c.title,
          c.class_name,
          c.compression,
          c.reason,
          c.stream,
          c.slot};
}
Column column_of(const Cbor& from) {
  Column c;
  c.path = from.at(0);
  c.name = from.at(1);
  c.dtype = static_cast<tfile::Dtype>(from.at(2).get<int>());
  c.role = static_cast<tfile::Role>(from.at(3).get<int>());
  c.optional = from.at(4);
  c.shape = from.at(5).get<std::vector<std::uint32_t>>();
  c.lists = from.at(6).get<std::vector<ColumnId>>();
  c.counter = optional(from.at(7));
  c.branch = from.at(8);
  c.field = from.at(9).get<std::vector<std::string>>();
  c.title = from.at(10);
  c.class_name = from.at(11);
  c.compression = from.at(12);
  c.reason = from.at(13);
  c.stream = from.at(14);
  c.slot = from.at(15);
  return c;
}

Cbor to_json(const TableSchema& schema) {
  Cbor nodes = Cbor::array(), columns = Cbor::array();
  for (const Node& node : schema.nodes) nodes.push_back(to_json(node));
  for (const Column& column : schema.columns) columns.push_back(to_json(column));
  return {schema.kind, std::move(nodes), std::move(columns), schema.short_columns};
}

// Whether the children that are columns in every table are: ends of lists, characters, tags and index.
bool has_its_columns(const TableSchema& schema, const Node& node) {
  const auto is_leaf = [&](std::size_t child) {
    return child < node.children.size() && schema.nodes[node.children[child]].column;
  };
  if (node.column) return node.children.empty();
  switch (node.kind) {
    case tfile::NodeKind::record:
      return true;
    case tfile::NodeKind::list:
    case tfile::NodeKind::map:
    case tfile::NodeKind::optional:
      return is_leaf(0);
    case tfile::NodeKind::string:
    case tfile::NodeKind::raw:
    case tfile::NodeKind::variant:
      return is_leaf(0) && is_leaf(1);
    default:
      return false;
  }
}

// Whether all numbers in it name something, and the nodes are a tree: children come behind their parents, once.
bool is_sound(const TableSchema& schema) {
  const auto is_column = [&](ColumnId id) { return id < schema.columns.size(); };
  std::vector<bool> is_child(schema.nodes.size());
  for (std::size_t i = 0; i < schema.nodes.size(); ++i) {
    const Node& node = schema.nodes[i];
    if (node.column && !is_column(*node.column)) return false;
    for (const tfile::NodeId child : node.children) {
      if (child <= i || child >= schema.nodes.size() || is_child[child]) return false;
      is_child[child] = true;
    }
    if (!has_its_columns(schema, node)) return false;
  }
  return !schema.nodes.empty() && !schema.nodes[0].column && std::ranges::is_sorted(schema.short_columns) &&
         std::ranges::all_of(schema.columns, [&](const Column& column) {
           return column.dtype <= tfile::Dtype::f8 && column.role <= tfile::Role::raw &&
                  std::ranges::all_of(column.lists, is_column) && (!column.counter || is_column(*column.counter));
         });
}

TableSchema schema_of(const Cbor& from) {
  TableSchema schema;
  schema.kind = from.at(0);
  std::vector<Node> nodes;
  for (const Cbor& node : from.at(1)) nodes.push_back(node_of(node));
  std::vector<Column> columns;
  for (const Cbor& column : from.at(2)) columns.push_back(column_of(column));
  schema.nodes = std::move(nodes);
  schema.columns = std::move(columns);
  schema.short_columns = from.at(3).get<std::vector<ColumnId>>();
  return schema;
}

Cbor to_json(const tfile::Identity& id) {
  return {id.size, id.modified_ns, id.object[0], id.object[1], id.state, id.is_of_copy};
}
tfile::Identity identity_of(const Cbor& from) {
  return {from.at(0), from.at(1), {from.at(2), from.at(3)}, from.at(4), from.at(5)};
}
Cbor to_json(const Provenance& p) {
  return {p.mode, p.uid, p.gid, p.modified.tv_sec, p.modified.tv_nsec, p.changed.tv_sec, p.changed.tv_nsec};
}
Provenance provenance_of(const Cbor& from) {
  return {from.at(0), from.at(1), from.at(2), {from.at(3), from.at(4)}, {from.at(5), from.at(6)}};
}

Cbor to_json(const TableFacts& t, std::map<TableSchemaPtr, std::size_t>& schemas, Cbor& all) {
  Cbor number;
  if (t.schema) {
    const auto [known, is_new] = schemas.emplace(t.schema, schemas.size());
    if (is_new) all.push_back(to_json(*t.schema));
    number = known->second;
  }
  Cbor friends = Cbor::array();
  for (const tfile::FriendName& each : t.friends) friends.push_back({each.alias, each.table, each.file});
  return {t.path,    t.original,         t.title,          t.reason,          number,
          t.entries, binary(t.clusters), binary(t.stored), binary(t.lengths), std::move(friends)};
}
TableFacts indexed_table(const Cbor& from, const std::vector<TableSchemaPtr>& schemas) {
  TableFacts t{from.at(0),
               from.at(1),
               from.at(2),
               from.at(3),
               nullptr,
               from.at(5),
               numbers<std::int64_t>(from.at(6)),
               numbers<std::uint64_t>(from.at(7)),
               numbers<std::int64_t>(from.at(8)),
               {},
               false};
  if (!from.at(4).is_null()) t.schema = schemas.at(from.at(4).get<std::size_t>());
  for (const Cbor& each : from.at(9)) t.friends.push_back({each.at(0), each.at(1), each.at(2)});
  const std::size_t columns = t.schema ? t.schema->columns.size() : 0;
  if (t.entries < 0 || t.stored.size() != columns || (!t.lengths.empty() && t.lengths.size() != columns))
    throw std::out_of_range("lengths");
  return t;
}

std::vector<IndexedFile> indexed_files(const Cbor& index, SchemaSet& schemas) {
  if (index.at("form").get<int>() != kForm) throw std::out_of_range("form");
  std::vector<TableSchemaPtr> kept;
  for (const Cbor& each : index.at("schemas")) {
    TableSchema schema = schema_of(each);
    if (!is_sound(schema)) throw std::out_of_range("schema");
    kept.push_back(schemas.keep(std::move(schema)));
  }
  std::vector<IndexedFile> files;
  for (const Cbor& each : index.at("files")) {
    auto facts = std::make_shared<FileFacts>();
    facts->identity = identity_of(each.at(2));
    facts->from = provenance_of(each.at(3));
    facts->uuid = each.at(5);
    for (const Cbor& table : each.at(4)) facts->tables.push_back(indexed_table(table, kept));
    files.push_back({each.at(0), each.at(1), std::move(facts)});
  }
  return files;
}

constexpr std::size_t kSumSize = sizeof(std::uint64_t);
// One of twenty thousand files of a thousand columns has a third of it.
constexpr off_t kSizeMax = 1 << 30;

tl::unexpected<Error> no_index(const std::string& path, const std::string& why) {
  return tfile::fail(ErrorKind::damaged, path + ": not a chain index, or a damaged one: " + why);
}

// A place that is no file is neither read nor replaced: an index at /dev/null would take its place.
Result<> check_place(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return tfile::system_error(path, errno);
  if (S_ISREG(status.st_mode)) return {};
  return tfile::fail(ErrorKind::invalid, path + ": not a regular file, so not a chain index");
}

// Facts of an index are shown before its files are opened, so nobody else may have written it.
Result<> check_writers(const std::string& path, const struct stat& status) {
  const bool is_sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return tfile::fail(ErrorKind::denied, path + ": belongs to another user, so the index is not trusted");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) == 0 || is_sticky) return {};
  return tfile::fail(ErrorKind::denied, path + ": others may write to it, so the index is not trusted");
}

// Whoever may write to a directory may put another file into it: in that of the name, and of the file behind a link.
Result<> check_directories(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  for (const std::filesystem::path& name : {std::filesystem::absolute(path, error), real}) {
    struct stat status {};
    const std::string directory = name.parent_path();
    if (error || ::stat(directory.c_str(), &status) != 0)
      return tfile::system_error(path, error ? error.value() : errno);
    TRY_VOID(check_writers(directory, status));
  }
  return {};
}

// An index that only the user, or root, can have written.
Result<Descriptor> open_index(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return tfile::system_error(path, errno);
  TRY_VOID(check_writers(path, status));
  TRY_VOID(check_directories(path));
  return file;
}

Result<std::string> index_bytes(const Descriptor& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return tfile::system_error(path, errno);
  if (status.st_size > kSizeMax) return no_index(path, std::to_string(status.st_size) + " bytes");
  std::string bytes(static_cast<std::size_t>(status.st_size), 0);
  const auto got = tfile::read_up_to(file.get(), 0, std::as_writable_bytes(std::span(bytes)));
  if (!got) return tfile::system_error(path, got.error());
  bytes.resize(*got);
  return bytes;
}

// A map in CBOR with the keys of an index begins with this: three of them, and the first is `files`.
constexpr std::string_view kBegin =
    "\xa3\x65"
    "files";

// A name that was given by mistake: another file, perhaps one of the chain, would be lost.
Result<> check_that_it_is_ours(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(kBegin.size(), 0);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(file.gcount()));
  if (kBegin.starts_with(begin)) return {};  // also one that was cut
  return tfile::fail(ErrorKind::invalid, path + ": not a chain index; neither read nor replaced");
}

// Whether no part of CBOR lies deeper than in any index, as far as it has the form in which it is written here: of
// known lengths, and without tags. The library that reads it goes as deep as the bytes say.
bool is_flat(std::string_view cbor) {
  constexpr std::size_t kDepthMax = 16;
  constexpr unsigned kBinary = 2, kText = 3, kArray = 4, kMap = 5, kTag = 6, kLongMax = 27;
  std::vector<std::uint64_t> left;  // parts of each array that is open
  for (std::size_t at = 0; at < cbor.size();) {
    const auto head = static_cast<unsigned char>(cbor[at++]);
    const unsigned kind = head >> 5, low = head & 31;
    const std::size_t more = low < 24 ? 0 : std::size_t{1} << (low - 24);
    if (low > kLongMax || kind == kTag || more > cbor.size() - at) return false;
    std::uint64_t number = more == 0 ? low : 0;
    for (std::size_t i = 0; i < more; ++i) number = number << 8 | static_cast<unsigned char>(cbor[at++]);
    if ((kind == kBinary || kind == kText) && number > cbor.size() - at) return false;
    if (kind == kBinary || kind == kText) at += number;
    while (!left.empty() && left.back() == 0) left.pop_back();
    if (!left.empty()) --left.back();
    if ((kind == kArray || kind == kMap) && number > cbor.size()) return false;
    if (kind == kArray || kind == kMap) left.push_back(kind == kMap ? 2 * number : number);
    if (left.size() > kDepthMax) return false;
  }
  return true;
}

}  // namespace

Result<std::vector<IndexedFile>> read_index(const std::string& path, SchemaSet& schemas) {
  TRY_VOID(check_place(path));
  TRY(const Descriptor file, open_index(path));
  TRY_VOID(check_that_it_is_ours(path));
  TRY(const std::string bytes, index_bytes(file, path));
  if (bytes.size() < kSumSize) return no_index(path, std::to_string(bytes.size()) + " bytes");
  std::uint64_t sum = 0;
  std::memcpy(&sum, bytes.data() + bytes.size() - kSumSize, kSumSize);
  const std::string_view content(bytes.data(), bytes.size() - kSumSize);
  if (const std::uint64_t found = hash_of_name(content); sum != found)
    return no_index(path, "checksum " + std::to_string(found) + ", expected " + std::to_string(sum));
  if (!is_flat(content)) return no_index(path, std::to_string(content.size()) + " bytes that nest too deep");
  try {
    return indexed_files(Cbor::from_cbor(content.begin(), content.end()), schemas);
  } catch (const std::exception& error) {  // of the library, and of what is checked above
    return no_index(path, error.what());
  }
}

Result<> write_index(const std::string& path, const std::vector<IndexedFile>& files) {
  std::map<TableSchemaPtr, std::size_t> schemas;
  Cbor of_schemas = Cbor::array(), of_files = Cbor::array();
  for (const IndexedFile& file : files) {
    Cbor tables = Cbor::array();
    for (const TableFacts& table : file.facts->tables) tables.push_back(to_json(table, schemas, of_schemas));
    of_files.push_back({file.name, file.table, to_json(file.facts->identity), to_json(file.facts->from),
                        std::move(tables), file.facts->uuid});
  }
  std::string bytes;
  Cbor::to_cbor({{"form", kForm}, {"schemas", std::move(of_schemas)}, {"files", std::move(of_files)}}, bytes);
  const std::uint64_t sum = hash_of_name(bytes);
  bytes.append(reinterpret_cast<const char*>(&sum), kSumSize);
  if (auto place = check_place(path); place)
    TRY_VOID(check_that_it_is_ours(path));
  else if (place.error().kind != ErrorKind::not_found)
    return place;
  constexpr mode_t kPrivate = 0600;
  TRY_VOID(replace_file(path, bytes, kPrivate));
  return {};
}

}  // namespace tfilefs
