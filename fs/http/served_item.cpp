// SPDX-License-Identifier: Apache-2.0
#include "http/served_item.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace tfilefs {

ServedItem served_item(std::string name, const Attributes& attributes, bool is_complete) {
  ServedItem item{std::move(name), attributes.mode, std::nullopt, std::nullopt};
  if (!is_complete) return item;
  item.modified = attributes.modified.tv_sec;
  if (S_ISREG(attributes.mode) && attributes.size_is_known) item.size = attributes.size;
  return item;
}

std::string content_type(std::string_view name) {
  constexpr auto kTypes = std::to_array<std::pair<std::string_view, const char*>>({
      {".arrow", "application/vnd.apache.arrow.file"},
      {".css", "text/css; charset=utf-8"},
      {".csv", "text/csv; charset=utf-8"},
      {".gif", "image/gif"},
      {".html", "text/html; charset=utf-8"},
      {".jpg", "image/jpeg"},
      {".js", "text/javascript; charset=utf-8"},
      {".json", "application/json"},
      {".log", "text/plain; charset=utf-8"},
      {".md", "text/plain; charset=utf-8"},
      {".parquet", "application/vnd.apache.parquet"},
      {".pdf", "application/pdf"},
      {".png", "image/png"},
      {".svg", "image/svg+xml"},
      {".tsv", "text/tab-separated-values; charset=utf-8"},
      {".txt", "text/plain; charset=utf-8"},
  });
  // Texts in the mount's own directory.
  constexpr auto kTexts = std::to_array<std::string_view>({"README", "errors", "stats", "map"});
  if (name == "metrics") return "text/plain; version=0.0.4; charset=utf-8";
  if (std::ranges::find(kTexts, name) != kTexts.end()) return "text/plain; charset=utf-8";
  const auto known = std::ranges::find_if(kTypes, [&](const auto& each) { return name.ends_with(each.first); });
  return known == kTypes.end() ? "application/octet-stream" : known->second;
}

}  // namespace tfilefs
