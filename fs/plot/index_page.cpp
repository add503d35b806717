// SPDX-License-Identifier: Apache-2.0
#include "plot/index_page.h"

#include <string_view>

#include "percent_text.h"
#include "plot/svg_text.h"

namespace tfilefs {
namespace {

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>
body{font-family:Arial,"Liberation Sans",Helvetica,sans-serif;margin:24px;color:#222}
section{display:grid;grid-template-columns:repeat(auto-fill,minmax(380px,1fr));gap:16px}
figure{margin:0;border:1px solid #ddd}img{width:100%;aspect-ratio:3/2;object-fit:contain;display:block}
figcaption{padding:6px 10px;font-size:14px;overflow-wrap:anywhere}figcaption span{color:#666}
h2{font-size:18px;overflow-wrap:anywhere}
</style>
)";

void append_plot(std::string& page, const IndexedPlot& plot) {
  // With "./" in front no part of a name can be taken for the scheme of an address.
  const std::string path = (plot.directory.empty() ? "" : plot.directory + "/") + plot.name;
  const std::string address = "./" + percent_encoded(path, "/");
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
  page += "</title></head><body><main>\n<h1>";
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
  return page + "</main></body></html>\n";
}

}  // namespace tfilefs
