// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tfilefs {

// Names that the mount adds to those of the file. docs/semantics/layout.md lists them.
inline constexpr std::string_view kControlName = ".tfilefs";
inline constexpr std::string_view kHeaderName = ".header.json";
inline constexpr std::string_view kMapName = ".map.txt";
inline constexpr std::string_view kKeysName = ".keys.json";
inline constexpr std::string_view kStreamerInfoName = ".streamerinfo.json";
inline constexpr std::string_view kClassesName = ".classes";
inline constexpr std::string_view kOriginalName = ".original";
inline constexpr std::string_view kSchemaName = ".schema.json";
inline constexpr std::string_view kGuessedSchemaName = "schema.json";  // the same, if nothing else has the name
inline constexpr std::string_view kReadmeName = "README";
inline constexpr std::string_view kAwkwardName = ".awkward.json";
inline constexpr std::string_view kPendingName = ".pending.json";
inline constexpr std::string_view kAttributesName = ".attributes";
inline constexpr std::string_view kFriendsName = ".friends";
inline constexpr std::string_view kWhereName = ".where=";
inline constexpr std::string_view kDrawName = ".draw=";
inline constexpr std::string_view kOptionIndexName = ".option.npy";
inline constexpr std::string_view kChainFilesName = ".files";
inline constexpr std::string_view kChainJsonName = ".chain.json";
inline constexpr std::string_view kDatasetName = ".dataset.json";
inline constexpr std::string_view kObjectBytesName = "object.bin";
inline constexpr std::string_view kObjectJsonName = "object.json";
inline constexpr std::string_view kObjectInfoName = "object.streamerinfo";
inline constexpr std::string_view kObjectTextName = "text.txt";
inline constexpr std::string_view kPlotName = "plot.svg";
inline constexpr std::string_view kSpreadsheetName = "table.csv";
inline constexpr std::string_view kIndexName = "index.html";
// The journal beside a file that is written (docs/semantics/writing.md, "Plain files in a mirrored directory").
inline constexpr std::string_view kJournalSuffix = ".tfilefs-journal";
inline constexpr std::string_view kNpySuffix = ".npy";
inline constexpr std::string_view kTextSuffix = ".txt";
inline constexpr std::string_view kStatsSuffix = ".stats.json";
inline constexpr std::string_view kPictureSuffix = ".svg";
inline constexpr std::string_view kBasketsSuffix = ".baskets.json";

// Whether the name is that of a view in a ROOT file, at any place: no other file can have it.
bool is_reserved(std::string_view name);

// "name;7" -> {"name", 7}; nothing if it does not end in ';' and a number without leading zeros.
struct CycleName {
  std::string_view name;
  std::uint16_t cycle = 0;
};
std::optional<CycleName> parse_cycle(std::string_view name);

// "plot.logxy.svg" -> {true, true, false}: a plot with logarithmic axes, named in this order.
struct LogAxes {
  bool x = false, y = false, z = false;
};
std::optional<LogAxes> parse_log_plot(std::string_view name);

// `name` without `suffix`, if it ends in it and is longer.
std::optional<std::string_view> without_suffix(std::string_view name, std::string_view suffix);

}  // namespace tfilefs
