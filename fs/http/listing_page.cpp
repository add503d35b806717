// SPDX-License-Identifier: Apache-2.0
#include "http/listing_page.h"

#include <array>
#include <string_view>
#include <utility>

#include "bytes_text.h"
#include "http/request_path.h"
#include "http/validators.h"
#include "markup.h"
#include "tfile/json_writer.h"
#include "tfile/percent_text.h"

namespace tfilefs {
namespace {

const char* type_name(const ServedItem& item) {
  if (item.is_directory()) return "directory";
  return S_ISLNK(item.mode) ? "link" : "file";
}

std::string link_to(const std::string& href, const std::string& text) {
  return "<a href=\"" + href + "\">" + html_escaped(text) + "</a>";
}

// The directories above, each with a link.
std::string trail(const std::vector<std::string>& path) {
  std::string text = link_to("/", "/"), href = "/";
  for (const std::string& name : path) {
    href += tfile::percent_encoded(name) + "/";
    text += link_to(href, name) + "/";
  }
  return text;
}

std::string row(const ServedItem& item) {
  std::array<char, 32> date{};
  if (item.modified) {
    std::tm parts{};
    ::gmtime_r(&*item.modified, &parts);
    std::strftime(date.data(), date.size(), "%Y-%m-%d %H:%M", &parts);
  }
  const std::string end = item.is_directory() ? "/" : "";
  return "<tr><td>" + link_to(tfile::percent_encoded(item.name) + end, item.name + end) + "</td><td>" +
         (item.size ? "<span title=\"" + std::to_string(*item.size) + " bytes\">" +
                          bytes_text(static_cast<double>(*item.size)) + "</span>"
                    : "") +
         "</td><td>" + date.data() + "</td></tr>\n";
}

void add_members(tfile::JsonWriter& json, const ServedItem& item) {
  json.member("name", item.name).member("type", type_name(item));
  if (item.size) json.member("size", *item.size);
  if (item.modified) json.member("mtime", *item.modified);
}

void add_response(std::string& to, const std::string& href, const ServedItem& item) {
  to += "<D:response><D:href>" + href + "</D:href><D:propstat><D:prop><D:resourcetype>";
  if (item.is_directory()) to += "<D:collection/>";
  to += "</D:resourcetype>";
  if (item.size)
    to += "<D:getcontentlength>" + std::to_string(*item.size) + "</D:getcontentlength><D:getcontenttype>" +
          content_type(item.name) + "</D:getcontenttype>";
  if (item.modified) to += "<D:getlastmodified>" + http_date(*item.modified) + "</D:getlastmodified>";
  to += "</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>\n";
}

}  // namespace

ListingForm html_listing(const std::vector<std::string>& path) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>" +
      html_escaped(path.empty() ? "/" : path.back()) +
      "</title><link rel=\"stylesheet\" href=\"/.tfilefs/page/listing.css\"></head><body><main>\n<h1>" + trail(path) +
      "</h1>\n<p><a href=\"/.tfilefs/page/#" + url_path(path, true) +
      "\">browse</a> &middot; <a href=\"?json\">as JSON</a></p>\n"
      "<table><thead><tr><th>name</th><th>size</th><th>modified (UTC)</th></tr></thead><tbody>\n";
  if (!path.empty()) page += "<tr><td><a href=\"../\">../</a></td><td></td><td></td></tr>\n";
  return {std::move(page), "", "", row, "</tbody></table>\n</main></body></html>\n", 0};
}

ListingForm json_listing(const std::vector<std::string>& path) {
  std::string shown;
  for (const std::string& name : path) shown += "/" + name;
  tfile::JsonWriter json;
  json.begin_object().member("path", shown + "/").key("entries").begin_array();
  const auto entry = [](const ServedItem& item) {
    tfile::JsonWriter one;
    one.begin_object();
    add_members(one, item);
    one.end_object();
    return one.take();
  };
  return {json.take(), "\n", ",\n", entry, "]}\n", 0};
}

std::string json_item(const ServedItem& item, const ItemAttributes& attributes) {
  tfile::JsonWriter json;
  json.begin_object();
  add_members(json, item);
  json.key("attributes").begin_object();
  for (const auto& [name, value] : attributes) json.member(name, value);
  json.end_object().end_object();
  return json.take() + "\n";
}

ListingForm dav_listing(const std::vector<std::string>& path, const ServedItem& self) {
  const std::string href = url_path(path, self.is_directory());
  std::string begin = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:multistatus xmlns:D=\"DAV:\">\n";
  add_response(begin, href, self);
  const auto response = [href](const ServedItem& item) {
    std::string text;
    if (S_ISREG(item.mode) || item.is_directory())
      add_response(text, href + tfile::percent_encoded(item.name) + (item.is_directory() ? "/" : ""), item);
    return text;
  };
  return {std::move(begin), "", "", response, "</D:multistatus>\n", href.size()};
}

}  // namespace tfilefs
