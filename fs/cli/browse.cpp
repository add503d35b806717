// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "child_program.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/served_source.h"
#include "cli/source_names.h"
#include "descriptor.h"
#include "http/access.h"
#include "http/listen_address.h"
#include "http/request_path.h"
#include "letter_case.h"
#include "markup.h"
#include "staging/journal/file_place.h"
#include "temporary_name.h"
#include "tfile/percent_text.h"
#include "tfile/source.h"
#include "vfs/names/expand_sources.h"
#include "vfs/names/path_pattern.h"

namespace tfilefs {
namespace {

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value && *value != '\0';
}

// A page that leads to the URL, for the user alone: every user sees the arguments of a program, and would see the token
// in one. It goes with this.
class LeadingPage {
 public:
  explicit LeadingPage(const std::string& url) {
    const char* const directory = std::getenv("XDG_RUNTIME_DIR");
    const std::string ending = ".html";
    path_ = temporary_name(std::string(directory && *directory ? directory : "/tmp") + "/tfilefs-", ending);
    const Descriptor file(::mkostemps(path_.data(), static_cast<int>(ending.size()), O_CLOEXEC));
    const std::string text =
        "<!DOCTYPE html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"
        "<meta http-equiv=\"refresh\" content=\"0;url=" +
        html_escaped(url) + "\">\n";
    is_whole_ = file && write_all(file.get(), 0, std::as_bytes(std::span(text))).has_value();
    is_made_ = static_cast<bool>(file);
  }
  ~LeadingPage() {
    if (is_made_) ::unlink(path_.c_str());
  }
  LeadingPage(const LeadingPage&) = delete;
  LeadingPage& operator=(const LeadingPage&) = delete;
  const std::string& path() const { return path_; }
  bool is_whole() const { return is_whole_; }

 private:
  std::string path_;
  bool is_made_ = false, is_whole_ = false;
};

// Some wait until the browser is closed: nothing waits for them.
void open_browser(const std::string& page) {
  std::thread([page] {
    if (run_program("/usr/bin/xdg-open", {"xdg-open", page}).status != 0)
      std::fprintf(stderr, "tfilefs: no browser could be opened: open the URL in one\n");
  }).detach();
}

// Letters and digits that differ in a name of a host, where case does not count.
std::string host_part(const std::string& token) {
  std::string part = lower_case(token);
  std::erase_if(part, [](char c) { return c == '-' || c == '_'; });
  return part;
}

// The path of the page, up to the next argument. What stands behind its # is encoded itself.
std::string page_of(const std::string& inside) {
  const std::vector<std::string> names = names_in(inside);
  const std::string at = names.empty() ? "" : "at=" + tfile::percent_encoded(url_path(names, false)) + "&";
  return "/.tfilefs/page/?" + at;
}

// The sources to serve, and the path in them where the page begins. Several files are looked at as one.
Result<std::string> take_sources(const std::vector<std::string>& words, ServeRequest& request) {
  if (request.options.chain) {  // which has names of its own: with tables, of lists
    request.sources = words;
    return "";
  }
  const std::string inside = split_source(words[0]).inside;
  for (const std::string& word : words) {
    SourcePath at = split_source(word);
    if (at.inside != inside)
      return tfile::fail(ErrorKind::invalid, word + ": the PATH is to be the same for all SOURCE: " + inside);
    request.sources.push_back(std::move(at.source));
  }
  bool are_several = words.size() > 1;
  if (!are_several && !tfile::is_url(request.sources[0])) {  // of a URL the source takes patterns itself
    TRY(auto found, expand_sources(request.sources[0]));
    are_several = found.size() > 1;
    if (!are_several) request.sources = std::move(found);
  }
  if (are_several) request.options.chain.emplace();
  return inside;
}

void tell_tunnel(const ServedAt& at) {
  const std::string port = std::to_string(at.port);
  std::fprintf(
      stderr,
      "tfilefs: from the machine where you sit, run this, then open the URL there:\n  ssh -N -L %s:127.0.0.1:%s %s\n",
      port.c_str(), port.c_str(), own_host_name().c_str());
}

}  // namespace

int run_browse(int argc, char** argv) {
  CommandLine command("browse");
  ServeRequest request;
  std::vector<std::string> option_lists, words;
  bool prints_only = false;
  command.take("--listen", request.listen);
  command.take("-n", prints_only);
  command.take("-o", option_lists);
  command.take("SOURCE[/PATH]...", words);
  if (const auto code = command.parse(argc, argv)) return *code;
  auto options = options_or_complaint(option_lists);
  if (!options) return kExitUsage;
  request.options = *std::move(options);
  const auto inside = take_sources(words, request);
  if (!inside) return complain(inside.error());
  // A browser sends a cookie to all ports of a host. This one is of no other server, and browsers know that names below
  // localhost are this machine.
  auto random = make_token();
  if (!random) return complain(random.error());
  const std::string own_name = "tfilefs-" + host_part(*random) + ".localhost";
  request.hosts.push_back(own_name);
  std::unique_ptr<LeadingPage> page;
  const auto served = serve_source(std::move(request), [&](const ServedAt& where) -> Result<> {
    const std::string place = page_of(*inside) + "token=" + where.token;
    TRY_VOID(tell_url(where, place));
    if (prints_only || where.port == 0) return {};
    if (is_set("SSH_CONNECTION") && !where.is_open_to_others) {
      tell_tunnel(where);
      return {};
    }
    if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) return {};
    page = std::make_unique<LeadingPage>("http://" + own_name + ":" + std::to_string(where.port) + place);
    if (page->is_whole()) open_browser(page->path());
    return {};
  });
  return served ? kExitOk : complain(served.error());
}

}  // namespace tfilefs
