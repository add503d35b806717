// SPDX-License-Identifier: Apache-2.0
#include "view/index_page.h"

#include <string_view>
#include <utility>

#include "markup.h"
#include "tfile/percent_text.h"

namespace tfilefs {
namespace {

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<style>
:root{color-scheme:light dark;--quiet:#595959}@media(prefers-color-scheme:dark){:root{--quiet:#aaa}body{background:#121212}}
body{font-family:Arial,"Liberation Sans",Helvetica,sans-serif;margin:24px;max-width:1900px}
@media(max-width:600px){body{margin:12px}}
h1,h2{overflow-wrap:anywhere}h2{font-size:18px;display:inline}summary{margin:16px 0 8px;cursor:pointer}
input{font:inherit;padding:6px;width:20em;max-width:100%;box-sizing:border-box;margin-bottom:16px}
section{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(380px,100%),1fr));gap:16px}
figure{margin:0;border:1px solid #8886}img{width:100%;aspect-ratio:3/2;object-fit:contain;display:block;background:#fff}
figcaption{padding:6px 10px;font-size:14px;overflow-wrap:anywhere}figcaption span,p{color:var(--quiet)}
[hidden]{display:none}
</style>
)";

// Shows what has each of the words in its caption, or in the name of its group. Where no script may run, as in a page
// that is served, there is nothing to type into.
constexpr std::string_view kSearch = R"(<script>
const search = document.createElement('input');
Object.assign(search, {type: 'search', placeholder: 'Search', ariaLabel: 'Search'});
document.querySelector('h1').after(search);
const groups = [...document.querySelectorAll('details')];
const figures = [...document.querySelectorAll('figure')].map((figure) => [figure,
  [figure.closest('details')?.querySelector('h2'), figure].map((each) => each?.textContent ?? '').join(' ').toLowerCase()]);
search.addEventListener('input', () => {
  const words = search.value.toLowerCase().split(' ');
  for (const [figure, text] of figures) figure.hidden = !words.every((word) => text.includes(word));
  for (const group of groups) {
    group.hidden = !group.querySelector('figure:not([hidden])');
    if (search.value) group.open = true;
  }
});
</script>
)";

// More than most plots take: the room for a page is made at once, and costs no memory where it is not written to.
constexpr std::size_t kPlotBytes = 1 << 10;

void append_plot(std::string& page, const IndexedPlot& plot) {
  // With "./" in front no part of a name can be taken for the scheme of an address.
  const std::string path = (plot.directory.empty() ? "" : plot.directory + "/") + plot.name;
  const std::string address = "./" + tfile::percent_encoded(path, "/");
  page += "<figure>";
  if (!plot.picture.empty()) {
    const std::string picture = address + plot.picture;
    page += "<a href=\"" + picture + "\"><img loading=\"lazy\" src=\"" + picture + "\" alt=\"";
    append_markup(page, plot.name);
    page += " (no plot)\"></a>";
  }
  page += "<figcaption>";
  if (!plot.page.empty()) page += "<a href=\"" + address + plot.page + "\">";
  append_markup(page, plot.name);
  if (!plot.page.empty()) page += "</a>";
  if (!plot.numbers.empty()) page += " <a href=\"" + address + plot.numbers + "\">statistics</a>";
  page += " <span>";
  append_markup(page, plot.class_name);
  if (!plot.title.empty()) page += ": ";
  append_markup(page, plot.title);
  page += "</span></figcaption></figure>\n";
}

}  // namespace

IndexPage::IndexPage(const std::string& heading, std::size_t plots) {
  page_.reserve(kHead.size() + kSearch.size() + plots * kPlotBytes);
  page_ += kHead;
  page_ += "<title>";
  append_markup(page_, heading);
  page_ += "</title></head><body><main>\n<h1>";
  append_markup(page_, heading);
  page_ += "</h1>\n";
}

void IndexPage::add(const IndexedPlot& plot) {
  if (directory_ != plot.directory) {
    end_group();
    if (!plot.directory.empty()) {
      page_ += "<details open><summary><h2>";
      append_markup(page_, plot.directory);
      page_ += "</h2></summary>\n";
    }
    page_ += "<section>\n";
    directory_ = plot.directory;
  }
  append_plot(page_, plot);
}

void IndexPage::end_group() {
  if (!directory_) return;
  page_ += directory_->empty() ? "</section>\n" : "</section></details>\n";
}

std::string IndexPage::take(const std::string& more) {
  end_group();
  if (!directory_ && more.empty()) page_ += "<p>Nothing to show.</p>\n";
  if (!more.empty()) {
    page_ += "<p>";
    append_markup(page_, more);
    page_ += "</p>\n";
  }
  page_ += "</main>\n";
  page_ += kSearch;
  page_ += "</body></html>\n";
  return std::move(page_);
}

}  // namespace tfilefs
