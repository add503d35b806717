// SPDX-License-Identifier: Apache-2.0
#include "plot/index_page.h"

#include <string_view>

#include "plot/svg_text.h"

namespace tfilefs {
namespace {

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>
body{font-family:Arial,"Liberation Sans",Helvetica,sans-serif;margin:24px;color:#222}
section{display:grid;grid-template-columns:repeat(auto-fill,minmax(380px,1fr));gap:16px}
figure{margin:0;border:1px solid #ddd}img{width:100%;aspect-ratio:3/2;object-fit:contain;display:block}
figcaption{padding:6px 10px;font-size:14px;overflow-wrap:anywhere}figcaption span{color:#666}
h2{font-size:18px;overflow-wrap:anywhere}
</style>
)";

// A path as part of an address: all but letters, digits and a few signs become %XX.
void append_address(std::string& to, std::string_view path) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF", kPlain = "-_.~/";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          kPlain.find(c) != std::string_view::npos;
    if (is_plain) {
      to += c;
    } else {
      to += '%';
      to += kDigits[byte >> 4];
      to += kDigits[byte & 15];
    }
  }
}

void append_plot(std::string& page, const IndexedPlot& plot) {
  // With "./" in front no part of a name can be taken for the scheme of an address.
  std::string address = "./";
  if (!plot.directory.empty()) {
    append_address(address, plot.directory);
    address += '/';
  }
  append_address(address, plot.name);
  page += "<figure>";
  if (!plot.picture.empty()) {
    const std::string picture = address + plot.picture;
    page += "<a href=\"" + picture + "\"><img loading=\"lazy\" src=\"" + picture + "\" alt=\"";
    append_markup(page, plot.name);
    page += " (no plot)\"></a>";
  }
  page += "<figcaption>";
  append_markup(page, plot.name);
  if (!plot.numbers.empty()) page += " <a href=\"" + address + plot.numbers + "\">statistics</a>";
  page += " <span>";
  append_markup(page, plot.class_name);
  if (!plot.title.empty()) page += ": ";
  append_markup(page, plot.title);
  page += "</span></figcaption></figure>\n";
}

}  // namespace

std::string index_page(const std::string& heading, std::span<const IndexedPlot> plots, const std::string& more) {
  std::string page(kHead);
  page += "<title>";
  append_markup(page, heading);
  page += "</title></head><body>\n<h1>";
  append_markup(page, heading);
  page += "</h1>\n";
  if (plots.empty() && more.empty()) page += "<p>No plots.</p>\n";
  for (std::size_t i = 0; i < plots.size(); ++i) {
    if (i == 0 || plots[i].directory != plots[i - 1].directory) {
      if (i > 0) page += "</section>\n";
      if (!plots[i].directory.empty()) {
        page += "<h2>";
        append_markup(page, plots[i].directory);
        page += "</h2>\n";
      }
      page += "<section>\n";
    }
    append_plot(page, plots[i]);
  }
  if (!plots.empty()) page += "</section>\n";
  if (!more.empty()) {
    page += "<p>";
    append_markup(page, more);
    page += "</p>\n";
  }
  return page + "</body></html>\n";
}

}  // namespace tfilefs
