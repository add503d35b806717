// SPDX-License-Identifier: Apache-2.0
#include "http/http_service.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <utility>

#include "http/directory_items.h"
#include "http/file_response.h"
#include "http/header_text.h"
#include "http/item_attributes.h"
#include "http/listing_page.h"
#include "http/listing_text.h"
#include "http/page_files.h"
#include "http/path_walk.h"
#include "http/plain_response.h"
#include "markup.h"
#include "on_behalf.h"
#include "tfile/percent_text.h"

namespace tfilefs {
namespace {

constexpr const char* kMethods = "GET, HEAD, OPTIONS, PROPFIND";
constexpr int kMultiStatus = 207, kMovedPermanently = 301, kBadRequest = 400, kUnauthorized = 401, kDenied = 403,
              kMissing = 404, kBadMethod = 405, kMisdirected = 421;

bool is_served(std::string_view method) {
  const auto all = list_items(kMethods);
  return std::ranges::find(all, method) != all.end();
}

HttpResponse redirect(int status, const std::string& location) {
  HttpResponse response = text_response(status, "");
  response.headers.emplace_back("Location", location);
  return response;
}

// Browsers say so, and programs do not.
bool wants_html(const HttpRequest& request) {
  return request.header("Accept").value_or("").find("text/html") != std::string::npos;
}

bool wants_json(const HttpRequest& request) {
  return request.argument("json") ||
         (!wants_html(request) && request.header("Accept").value_or("").find("application/json") != std::string::npos);
}

HttpResponse options_response() {
  HttpResponse response = text_response(200, "");
  response.headers.emplace_back("Allow", kMethods);
  response.headers.emplace_back("DAV", "1");
  response.headers.emplace_back("MS-Author-Via", "DAV");  // for Windows
  return response;
}

HttpResponse page_response(std::string_view name) {
  if (name.empty()) name = "index.html";
  const auto files = page_files();
  const auto file = std::ranges::find(files, name, &PageFile::name);
  if (file == files.end()) return text_response(kMissing, "no such file\n");
  return text_response(200, std::string(file->bytes), content_type(name), PagePolicy::page);
}

// The path again, with the arguments of the request but one.
std::string same_target(const HttpRequest& request, const RequestPath& path, std::string_view without = {}) {
  std::string target = url_path(path.names, path.ends_in_slash);
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    if (name == without) continue;
    target += separator + tfile::percent_encoded(name) + "=" + tfile::percent_encoded(value);
    separator = '&';
  }
  return target;
}

// Whether a person has followed a link: browsers say so. Java says that it wants HTML, and wants bytes.
bool is_of_browser(const HttpRequest& request) {
  if (request.header("Range") || !wants_html(request)) return false;
  if (const auto mode = request.header("Sec-Fetch-Mode")) return mode == "navigate";
  return request.header("User-Agent").value_or("").starts_with("Mozilla/");
}

// The token goes into a cookie, and out of the address line. By a page that leads on: a redirection would still count
// as one from the site or file that the URL stood in, and a browser would keep the cookie back.
HttpResponse entrance(const HttpRequest& request, const RequestPath& path, const std::string& cookie) {
  const std::string target = same_target(request, path, "token");
  HttpResponse response = text_response(
      200,
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>tfilefs</title>"
      "<link rel=\"icon\" href=\"data:,\">"
      "<meta http-equiv=\"refresh\" content=\"0;url=" +
          html_escaped(target) + "\"></head><body><a href=\"" + html_escaped(target) + "\">Go on</a></body></html>\n",
      "text/html; charset=utf-8", PagePolicy::page);
  response.headers.emplace_back("Set-Cookie", cookie);
  return response;
}

// A request on its way through the source.
struct Asked {
  FileSystem& fs;
  std::shared_ptr<const HttpRequest> request;
  RequestPath path;
  std::shared_ptr<ListedNames> listed;
};

ServedItem asked_item(const Asked& asked, const HeldInode& inode) {
  return served_item(asked.path.names.empty() ? "" : asked.path.names.back(), inode.attributes(), true);
}

std::string etag_of(const Attributes& attributes, InodeId id, const FileSystem::OpenBytes& bytes) {
  if (!bytes.is_fixed) return "";
  std::string text = "\"";
  std::array<char, 32> number;
  for (const std::uint64_t each :
       {id, bytes.size, static_cast<std::uint64_t>(attributes.modified.tv_sec),
        static_cast<std::uint64_t>(attributes.modified.tv_nsec), static_cast<std::uint64_t>(attributes.changed.tv_sec),
        static_cast<std::uint64_t>(attributes.changed.tv_nsec), bytes.making}) {
    std::snprintf(number.data(), number.size(), "%s%llx", text.size() > 1 ? "-" : "",
                  static_cast<unsigned long long>(each));
    text += number.data();
  }
  return text + "\"";
}

void send_file(const Asked& asked, HeldInode inode, Reply<HttpResponse> reply) {
  if (!S_ISREG(inode.attributes().mode)) return reply(text_response(kDenied, "neither a file nor a directory\n"));
  if (asked.path.ends_in_slash) return reply(text_response(kMissing, "is not a directory\n"));
  const InodeId id = inode.id();
  auto held = std::make_shared<HeldInode>(std::move(inode));
  auto send = [asked, held](const FileSystem::Opened& opened, Reply<HttpResponse> done) {
    OpenedFile file;
    const FileSystem::OpenBytes bytes = asked.fs.bytes_of(opened.handle);
    file.size = bytes.size;
    file.validators = {etag_of(held->attributes(), held->id(), bytes), held->attributes().modified.tv_sec};
    file.type = content_type(asked.path.names.back());
    file.file =
        std::make_shared<const ServedFile>(ServedFile{asked.fs, std::move(*held), HeldHandle(asked.fs, opened.handle)});
    done(file_response(*asked.request, file, std::time(nullptr)));
  };
  asked.fs.open(id, value_for<FileSystem::Opened>(std::move(reply), std::move(send)));
}

// In the form that the items get.
void send_items(const Asked& asked, HeldInode inode, ItemSizes sizes,
                std::function<void(std::shared_ptr<DirectoryItems>, Reply<HttpResponse>)> send,
                Reply<HttpResponse> reply) {
  DirectoryItems::open(asked.fs, std::move(inode), sizes, asked.listed,
                       value_for<std::shared_ptr<DirectoryItems>>(std::move(reply), std::move(send)));
}

void send_listing(const Asked& asked, HeldInode inode, Reply<HttpResponse> reply) {
  const bool as_json = wants_json(*asked.request);
  if (!asked.path.ends_in_slash && !as_json)
    return reply(redirect(kMovedPermanently, same_target(*asked.request, {asked.path.names, true})));
  auto vary = [](Result<HttpResponse>& made) {
    if (made) made->headers.emplace_back("Vary", "Accept");
  };
  auto send = [path = asked.path.names, as_json](std::shared_ptr<DirectoryItems> items, Reply<HttpResponse> done) {
    made_response(200, listing_text(std::move(items), as_json ? json_listing(path) : html_listing(path)),
                  as_json ? "application/json" : "text/html; charset=utf-8", PagePolicy::page, std::move(done));
  };
  const auto sizes = asked.request->argument("sizes") ? ItemSizes::all : ItemSizes::known;
  send_items(asked, std::move(inode), sizes, std::move(send), seen_by(std::move(reply), vary));
}

void send_properties(const Asked& asked, HeldInode inode, Reply<HttpResponse> reply) {
  constexpr const char* kType = "application/xml; charset=utf-8";
  const std::string depth = asked.request->header("Depth").value_or("infinity");
  if (depth != "0" && depth != "1")
    return reply(text_response(kDenied,
                               "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:error xmlns:D=\"DAV:\">"
                               "<D:propfind-finite-depth/></D:error>\n",
                               kType));
  const ServedItem self = asked_item(asked, inode);
  ListingForm form = dav_listing(asked.path.names, self);
  if (depth == "0" || !self.is_directory()) return reply(text_response(kMultiStatus, form.begin + form.end, kType));
  auto send = [form = std::move(form)](std::shared_ptr<DirectoryItems> items, Reply<HttpResponse> done) {
    made_response(kMultiStatus, listing_text(std::move(items), form), kType, PagePolicy::source, std::move(done));
  };
  send_items(asked, std::move(inode), ItemSizes::all, std::move(send), std::move(reply));
}

void send_attributes(const Asked& asked, HeldInode inode, Reply<HttpResponse> reply) {
  const auto which = asked.request->argument("attributes") == "all" ? WhichAttributes::all : WhichAttributes::listed;
  auto make = [&fs = asked.fs, which, item = asked_item(asked, inode),
               held = std::make_shared<HeldInode>(std::move(inode))](Reply<std::string> done) {
    auto show = [item](const ItemAttributes& attributes) { return json_item(item, attributes); };
    attributes_of(fs, held->id(), which, answer_with<ItemAttributes>(std::move(done), std::move(show)));
  };
  made_response(200, remade_text(std::move(make)), "application/json", PagePolicy::page, std::move(reply));
}

void send_found(const Asked& asked, HeldInode inode, Reply<HttpResponse> reply) {
  if (asked.request->method == "PROPFIND") return send_properties(asked, std::move(inode), std::move(reply));
  if (asked.request->argument("attributes")) return send_attributes(asked, std::move(inode), std::move(reply));
  if (S_ISDIR(inode.attributes().mode)) return send_listing(asked, std::move(inode), std::move(reply));
  send_file(asked, std::move(inode), std::move(reply));
}

// A file that changes between look-up and opening is looked up again.
void find_and_send(Asked asked, int tries, Reply<HttpResponse> reply) {
  const std::vector<std::string> names = asked.path.names;
  FileSystem& fs = asked.fs;
  auto judge = [asked, tries](Result<HttpResponse> sent, Reply<HttpResponse> done) {
    if (sent) return done(std::move(sent));
    if (sent.error().kind == ErrorKind::stale && tries > 1) return find_and_send(asked, tries - 1, std::move(done));
    done(error_response(sent.error()));
  };
  auto send = [asked = std::move(asked)](HeldInode inode, Reply<HttpResponse> sent) {
    send_found(asked, std::move(inode), std::move(sent));
  };
  walk_path(fs, names,
            value_for<HeldInode>(on_behalf_of<HttpResponse>(std::move(reply), std::move(judge)), std::move(send)));
}

}  // namespace

std::optional<HttpResponse> HttpService::refusal(const HttpRequest& request) const {
  if (request.count("Host") > 1) return text_response(kBadRequest, "more than one Host\n");
  const std::string host = request.header("Host").value_or("");
  if (!is_own_host(host, settings_.hosts))
    return text_response(kMisdirected, "not a name of this server: see --host\n");
  if (!shows_token({request.header("Authorization"), request.header("Cookie"), request.argument("token")},
                   settings_.token, settings_.cookie)) {
    HttpResponse response = text_response(kUnauthorized, "the token is missing or wrong\n");
    // A page asks in the background: the browser would put up a dialog for it.
    if (request.header("Sec-Fetch-Mode").value_or("navigate") == "navigate")
      response.headers.emplace_back("WWW-Authenticate", "Basic realm=\"tfilefs\", charset=\"UTF-8\"");
    return response;
  }
  if (const auto origin = request.header("Origin"); origin && !is_own_origin(*origin, host))
    return text_response(kDenied, "asked for by a page of another site\n");
  if (is_served(request.method)) return std::nullopt;
  HttpResponse response = text_response(kBadMethod, "only reading is possible\n");
  response.headers.emplace_back("Allow", kMethods);
  return response;
}

std::variant<HttpResponse, RequestPath> HttpService::judge(const HttpRequest& request) const {
  if (auto refused = refusal(request)) return *std::move(refused);
  if (request.method == "OPTIONS") return options_response();
  auto path = parse_request_path(request.target);
  if (!path) return text_response(kBadRequest, "not a path\n");
  if (request.argument("token") && request.method == "GET" && is_of_browser(request))
    return entrance(request, *path, set_cookie(settings_.token, settings_.cookie));
  const auto& names = path->names;
  if (names.size() < 2 || names[0] != ".tfilefs" || names[1] != "page" || request.method == "PROPFIND")
    return *std::move(path);
  if (names.size() == 2 && !path->ends_in_slash)
    return redirect(kMovedPermanently, same_target(request, {names, true}));
  return page_response(names.size() == 2 ? "" : names.size() == 3 ? names[2] : "/");
}

void HttpService::answer(std::shared_ptr<const HttpRequest> request, RequestPath path,
                         Reply<HttpResponse> reply) const {
  constexpr int kTries = 3;
  find_and_send({fs_, std::move(request), std::move(path), listed_}, kTries, std::move(reply));
}

}  // namespace tfilefs
