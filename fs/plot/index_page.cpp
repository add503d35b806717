// SPDX-License-Identifier: Apache-2.0
#include "plot/index_page.h"

#include <string_view>
#include <utility>

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

// More than most plots take: the room for a page is made at once, and costs no memory where it is not written to.
constexpr std::size_t kPlotBytes = 1 << 10;

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

IndexPage::IndexPage(const std::string& heading, std::size_t plots) {
  page_.reserve(kHead.size() + plots * kPlotBytes);
  page_ += kHead;
  page_ += "<title>";
  append_markup(page_, heading);
  page_ += "</title></head><body><main>\n<h1>";
  append_markup(page_, heading);
  page_ += "</h1>\n";
}

void IndexPage::add(const IndexedPlot& plot) {
  if (directory_ != plot.directory) {
    if (directory_) page_ += "</section>\n";
    if (!plot.directory.empty()) {
      page_ += "<h2>";
      append_markup(page_, plot.directory);
      page_ += "</h2>\n";
    }
    page_ += "<section>\n";
    directory_ = plot.directory;
  }
  append_plot(page_, plot);
}

std::string IndexPage::take(const std::string& more) {
  if (directory_) page_ += "</section>\n";
  if (!directory_ && more.empty()) page_ += "<p>No plots.</p>\n";
  if (!more.empty()) {
    page_ += "<p>";
    append_markup(page_, more);
    page_ += "</p>\n";
  }
  page_ += "</main></body></html>\n";
  return std::move(page_);
}

}  // namespace tfilefs
