// SPDX-License-Identifier: Apache-2.0
#include "remote/http/http_client.h"

#include <curl/curl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "remote/http/http_host.h"
#include "remote/server/environment.h"
#include "remote/server/remote_dates.h"
#include "tfile/errnos.h"
#include "tfile/mutex.h"

namespace tfile {
namespace {

using Clock = std::chrono::steady_clock;

// As many as files of a chain are opened at the same time. One file has no more than kRequestsAtOnce (http_source.cpp)
// under way, as many as the connections of a browser.
constexpr long kConnectionsOfHost = 32;
constexpr long kRedirectsMax = 10;
// How often the loop checks deadlines.
constexpr std::chrono::milliseconds kTick{100};
// Larger than any sane head; a server may send one without end.
constexpr std::size_t kHeadMax = 64 << 10;

bool is_readable(const std::string& path) { return !path.empty() && ::access(path.c_str(), R_OK) == 0; }

// `own`: only if it is this user's, and no link. Anybody can put a file into /tmp. A pipe, which may stay empty, is
// none.
bool is_file(const std::string& path, bool own) {
  struct stat status {};
  const auto look = own ? ::lstat : ::stat;
  if (path.empty() || look(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  return !own || status.st_uid == ::geteuid();
}

// Certificates of authorities, where distributions have them: for a libcurl that was not told, as that of a portable
// program.
constexpr std::array kAuthorities{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                  "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};

std::string authorities_of_system() {
  if (curl_version_info(CURLVERSION_NOW)->cainfo) return {};
  const auto found = std::find_if(kAuthorities.begin(), kAuthorities.end(), is_readable);
  return found == kAuthorities.end() ? "" : *found;
}

// A grid proxy, which identifies the user to a server; empty if there is none. It may be made while the mount is there.
std::string find_proxy() {
  const std::string named = first_of_environment({"X509_USER_PROXY"});
  if (!named.empty()) return is_file(named, false) ? named : "";
  const std::string usual = "/tmp/x509up_u" + std::to_string(::geteuid());
  return is_file(usual, true) ? usual : "";
}

// Passwords for hosts. Where no home is named, libcurl knows another.
bool has_netrc() {
  const std::string home = first_of_environment({"HOME"});
  return home.empty() || is_file(home + "/.netrc", false);
}

// Certificates of authorities.
struct Authorities {
  std::string file, directory;
};

Authorities find_authorities() {
  Authorities found;
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"})
    if (found.file.empty()) found.file = first_of_environment({name});
  found.directory = first_of_environment({"X509_CERT_DIR"});
  if (found.file.empty()) found.file = authorities_of_system();
  return found;
}

struct Transfer {
  explicit Transfer(HttpRequest given) : request(std::move(given)) {}
  ~Transfer() {
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  HttpRequest request;
  Clock::time_point due{};  // when it is sent
  Clock::time_point last_byte{};
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  HttpHead head;
  std::size_t head_size = 0;
  bool names_other = false;  // the head has a Location
  long redirects = 0;        // that were followed here, and not by libcurl
  bool head_given = false, is_enough = false;
  std::uint64_t bytes = 0;
  std::optional<std::stop_callback<void (*)()>> on_stop;
};

std::string_view value_of(std::string_view line, std::string_view name) {
  if (line.size() < name.size() || ::strncasecmp(line.data(), name.data(), name.size()) != 0) return {};
  line.remove_prefix(name.size());
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n' || line.back() == ' ')) line.remove_suffix(1);
  return line;
}

// "120", or a date.
std::chrono::seconds seconds_until(std::string_view retry_after) {
  const std::string text(retry_after);
  const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
  const long seconds = is_number ? std::atol(text.c_str()) : curl_getdate(text.c_str(), nullptr) - std::time(nullptr);
  return std::chrono::seconds(std::clamp(seconds, 0L, 86'400L));
}

// "HTTP/1.1 100 Continue": an answer is still to come.
bool is_preliminary(std::string_view status_line) {
  const std::size_t space = status_line.find(' ');
  return space != std::string_view::npos && status_line.substr(space + 1).starts_with('1');
}

// Takes what a line says. Where it comes twice, and says two things, none of them is to be believed.
template <typename T>
void take_line(HttpHead& head, T& place, T said) {
  head.contradicts_itself |= place != T() && place != said;
  place = std::move(said);
}

void take_content_type(HttpHead& head, std::string_view text) {
  head.is_multipart = ::strncasecmp(text.data(), "multipart/byteranges", 20) == 0;
  if (head.is_multipart) take_line(head, head.boundary, parse_boundary(text));
}

// Takes a line that tells states of a file apart, or where bytes lie in it.
void take_state_line(HttpHead& head, std::string_view line) {
  if (const auto text = value_of(line, "content-range:"); !text.empty())
    take_line(head, head.range, parse_content_range(text));
  if (const auto text = value_of(line, "etag:"); !text.empty()) take_line(head, head.etag, std::string(text));
  if (const auto text = value_of(line, "last-modified:"); !text.empty())
    take_line(head, head.modified_ns, date_of_seconds(curl_getdate(std::string(text).c_str(), nullptr)));
  if (const auto text = value_of(line, "content-length:"); !text.empty())
    take_line<std::optional<std::uint64_t>>(head, head.length, std::strtoull(std::string(text).c_str(), nullptr, 10));
}

// A line of the head. Each answer, of a redirect too, begins anew with its status line. The others do not count as
// bytes that come: they could come one by one for hours.
std::size_t take_head_line(const char* data, std::size_t one, std::size_t size, void* of) {
  auto& transfer = *static_cast<Transfer*>(of);
  const std::string_view line(data, one * size);
  transfer.head_size += line.size();
  if (transfer.head_size > kHeadMax) return 0;
  HttpHead& head = transfer.head;
  if (line.starts_with("HTTP/")) {
    head = {};
    transfer.names_other = false;
    if (!is_preliminary(line)) transfer.last_byte = Clock::now();
  }
  transfer.names_other |= !value_of(line, "location:").empty();
  take_state_line(head, line);
  if (const auto text = value_of(line, "content-type:"); !text.empty()) take_content_type(head, text);
  if (const auto text = value_of(line, "content-encoding:"); !text.empty())
    head.is_encoded |= ::strncasecmp(text.data(), "identity", text.size()) != 0;
  if (const auto text = value_of(line, "retry-after:"); !text.empty()) head.retry_after = seconds_until(text);
  return line.size();
}

// Keys are for their own server, but libcurl takes all lines of a head along. So it follows none of these itself.
bool is_followed_here(const Transfer& transfer) {
  if (!transfer.request.aws || !transfer.names_other || transfer.redirects == kRedirectsMax) return false;
  long status = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool give_head(Transfer& transfer) {
  if (std::exchange(transfer.head_given, true)) return !transfer.is_enough;
  curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &transfer.head.status);
  transfer.is_enough = !transfer.request.on_head(transfer.head);
  return !transfer.is_enough;
}

std::size_t take_body(const char* data, std::size_t one, std::size_t size, void* of) {
  auto& transfer = *static_cast<Transfer*>(of);
  transfer.last_byte = Clock::now();
  if (is_followed_here(transfer)) return one * size;
  if (!give_head(transfer)) return 0;
  transfer.bytes += one * size;
  transfer.is_enough = !transfer.request.on_body(std::as_bytes(std::span(data, one * size)));
  return transfer.is_enough ? 0 : one * size;
}

class Client {
 public:
  Client();
  void add(std::unique_ptr<Transfer>);

 private:
  [[noreturn]] void run();
  void take_queued();
  void start(Transfer&);
  void start_due();
  void prepare(Transfer&) const;
  void set_certificates(const Transfer&) const;
  void follow(Transfer&);
  void end_finished();
  void end_silent();
  void end(std::size_t position, HttpEnd);
  std::chrono::milliseconds wait_time() const;

  const Authorities authorities_ = find_authorities();
  CURLM* const multi_;
  Mutex mutex_{"Client::mutex_", "", "a read"};
  std::vector<std::unique_ptr<Transfer>> queued_ GUARDED_BY(mutex_);  // by other threads
  // Used by the client's thread:
  std::vector<std::unique_ptr<Transfer>> waiting_;  // for their time
  std::vector<std::unique_ptr<Transfer>> active_;
};

// Never destroyed: its thread may be in the middle of a transfer when the process ends.
Client& client() {
  static Client* const one = new Client;
  return *one;
}

Client::Client() : multi_((curl_global_init(CURL_GLOBAL_DEFAULT), curl_multi_init())) {
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  curl_multi_setopt(multi_, CURLMOPT_MAX_HOST_CONNECTIONS, kConnectionsOfHost);
  try {
    std::thread([this] { run(); }).detach();
  } catch (const std::system_error&) {
    curl_multi_cleanup(multi_);
    throw;
  }
}

void Client::add(std::unique_ptr<Transfer> transfer) {
  transfer->due = Clock::now() + transfer->request.after;
  {
    const Lock lock(mutex_);
    queued_.push_back(std::move(transfer));
  }
  curl_multi_wakeup(multi_);
}

void Client::run() {
  for (;;) {
    take_queued();
    start_due();
    int running = 0;
    curl_multi_perform(multi_, &running);
    end_finished();
    end_silent();
    curl_multi_poll(multi_, nullptr, 0, static_cast<int>(wait_time().count()), nullptr);
  }
}

std::chrono::milliseconds Client::wait_time() const {
  if (!active_.empty() || !waiting_.empty()) return kTick;
  return std::chrono::minutes(10);  // a new request wakes it
}

void Client::take_queued() {
  const Lock lock(mutex_);
  for (auto& transfer : queued_) waiting_.push_back(std::move(transfer));
  queued_.clear();
}

void Client::start(Transfer& transfer) {
  prepare(transfer);
  transfer.last_byte = Clock::now();
  curl_multi_add_handle(multi_, transfer.easy);
}

// Asks where a redirect leads, without keys if that is another server.
void Client::follow(Transfer& transfer) {
  char* url = nullptr;
  curl_easy_getinfo(transfer.easy, CURLINFO_REDIRECT_URL, &url);
  const std::string to = url ? url : "";
  curl_multi_remove_handle(multi_, transfer.easy);
  curl_easy_reset(transfer.easy);
  curl_slist_free_all(std::exchange(transfer.headers, nullptr));
  if (http_server_of(to) != http_server_of(transfer.request.url)) transfer.request.aws.reset();
  transfer.request.url = to;
  ++transfer.redirects;
  start(transfer);
}

void Client::start_due() {
  const Clock::time_point now = Clock::now();
  std::vector<std::unique_ptr<Transfer>> later;
  for (auto& transfer : waiting_) {
    if (transfer->due > now && !transfer->request.stop.stop_requested()) {
      later.push_back(std::move(transfer));
      continue;
    }
    transfer->easy = curl_easy_init();
    start(*transfer);
    active_.push_back(std::move(transfer));
  }
  waiting_ = std::move(later);
}

// libcurl 7.88 does not add the hash of the body, which S3 wants; given as a line of the head, it is signed with the
// rest.
void sign(Transfer& transfer) {
  const AwsKeys& keys = *transfer.request.aws;
  curl_easy_setopt(transfer.easy, CURLOPT_AWS_SIGV4, ("aws:amz:" + keys.region + ":s3").c_str());
  curl_easy_setopt(transfer.easy, CURLOPT_USERPWD, (keys.id + ":" + keys.secret).c_str());
  transfer.headers = curl_slist_append(transfer.headers, "x-amz-content-sha256: UNSIGNED-PAYLOAD");
  if (!keys.session_token.empty())
    transfer.headers = curl_slist_append(transfer.headers, ("x-amz-security-token: " + keys.session_token).c_str());
  curl_easy_setopt(transfer.easy, CURLOPT_HTTPHEADER, transfer.headers);
}

// A redirect is followed with the same method and body. libcurl keeps no copy of the body.
void set_method(CURL* easy, const HttpRequest& request) {
  if (!request.body.empty()) {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTREDIR, long{CURL_REDIR_POST_ALL});
  }
  if (!request.method.empty()) curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void allow_http_alone(CURL* easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS, long{CURLPROTO_HTTP | CURLPROTO_HTTPS});
  curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS, long{CURLPROTO_HTTP | CURLPROTO_HTTPS});
#endif
}

void Client::set_certificates(const Transfer& transfer) const {
  const auto set = [&](CURLoption option, const std::string& value) {
    if (!value.empty()) curl_easy_setopt(transfer.easy, option, value.c_str());
  };
  set(CURLOPT_CAINFO, authorities_.file);
  set(CURLOPT_CAPATH, authorities_.directory);
  const std::string proxy = find_proxy();
  set(CURLOPT_SSLCERT, proxy);
  set(CURLOPT_SSLKEY, proxy);
}

void Client::prepare(Transfer& transfer) const {
  CURL* const easy = transfer.easy;
  const HttpRequest& request = transfer.request;
  const auto set = [easy](CURLoption option, auto value) { curl_easy_setopt(easy, option, value); };
  for (const std::string& line : request.headers) transfer.headers = curl_slist_append(transfer.headers, line.c_str());
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_HTTPHEADER, transfer.headers);
  set_method(easy, request);
  allow_http_alone(easy);
  set(CURLOPT_FOLLOWLOCATION, request.aws ? 0L : 1L);
  set(CURLOPT_MAXREDIRS, kRedirectsMax - transfer.redirects);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.silence.count()));
  set(CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
  set(CURLOPT_QUICK_EXIT, 1L);  // a name that is being resolved does not hold up its end
#endif
  // For a stream of an HTTP/2 connection, rather than open one more. Without TLS there is none.
  set(CURLOPT_PIPEWAIT, request.url.starts_with("https:") ? 1L : 0L);
  set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_2TLS});
  set(CURLOPT_BUFFERSIZE, long{256 << 10});
  set(CURLOPT_NETRC, long{has_netrc() ? CURL_NETRC_OPTIONAL : CURL_NETRC_IGNORED});
  set(CURLOPT_USERAGENT, "tfilefs");
  set(CURLOPT_HEADERFUNCTION, take_head_line);
  set(CURLOPT_HEADERDATA, &transfer);
  set(CURLOPT_WRITEFUNCTION, take_body);
  set(CURLOPT_WRITEDATA, &transfer);
  if (!request.token.empty()) {
    set(CURLOPT_HTTPAUTH, long{CURLAUTH_BEARER});
    set(CURLOPT_XOAUTH2_BEARER, request.token.c_str());
  }
  if (request.aws) sign(transfer);
  set_certificates(transfer);
  transfer.on_stop.emplace(request.stop, [] { curl_multi_wakeup(client().multi_); });
}

HttpEnd::Trouble trouble_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return HttpEnd::Trouble::none;
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return HttpEnd::Trouble::unreachable;
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_WRITE_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
      return HttpEnd::Trouble::lasting;
    default:
      return HttpEnd::Trouble::passing;
  }
}

std::string failure_text(const Transfer& transfer, CURLcode code) {
  if (transfer.head_size > kHeadMax) return "the headers of the server's response are too long";
  if (code == CURLE_UNSUPPORTED_PROTOCOL && transfer.head_size == 0) return "the server's response is not HTTP";
  if (code == CURLE_UNSUPPORTED_PROTOCOL) return "the server redirects to an unsupported URL";
  return curl_easy_strerror(code);
}

void take_code(HttpEnd& end, const Transfer& transfer, CURLcode code) {
  if (transfer.is_enough) return;
  end.trouble = trouble_of(code);
  if (end.trouble == HttpEnd::Trouble::none) return;
  const ErrorKind kind = code == CURLE_OPERATION_TIMEDOUT ? ErrorKind::timed_out : ErrorKind::io;
  end.error = Error{kind, failure_text(transfer, code), -1, 0};
}

void Client::end_finished() {
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    const auto found = std::ranges::find(active_, message->easy_handle, [](const auto& one) { return one->easy; });
    if (found == active_.end()) continue;
    Transfer& transfer = **found;
    if (code == CURLE_OK && is_followed_here(transfer)) {
      follow(transfer);
      continue;
    }
    // The head of an answer without a body, also if one was promised.
    if (code == CURLE_OK || code == CURLE_PARTIAL_FILE) give_head(transfer);
    HttpEnd end;
    take_code(end, transfer, code);
    this->end(static_cast<std::size_t>(found - active_.begin()), std::move(end));
  }
}

// Before that it waits for a connection, perhaps for one that others use; libcurl limits the time of a new one.
bool is_sent(const Transfer& transfer) {
  curl_off_t sent = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_PRETRANSFER_TIME_T, &sent);
  return sent > 0;
}

void Client::end_silent() {
  const Clock::time_point now = Clock::now();
  for (std::size_t i = active_.size(); i-- > 0;) {
    const Transfer& transfer = *active_[i];
    if (transfer.request.stop.stop_requested())
      end(i, {HttpEnd::Trouble::lasting, Error{ErrorKind::io, "the mount is ending", -1, 0}, {}, {}, 0, {}, 0, false});
    else if (is_sent(transfer) && now - transfer.last_byte > transfer.request.silence)
      end(i, {HttpEnd::Trouble::passing, Error{ErrorKind::timed_out, "no answer", -1, 0}, {}, {}, 0, {}, 0, false});
  }
}

void Client::end(std::size_t position, HttpEnd end) {
  const std::unique_ptr<Transfer> transfer = std::move(active_[position]);
  active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(position));
  end.bytes = transfer->bytes;
  curl_off_t sent = 0, begun = 0, all = 0;
  char* url = nullptr;
  curl_easy_getinfo(transfer->easy, CURLINFO_PRETRANSFER_TIME_T, &sent);
  curl_easy_getinfo(transfer->easy, CURLINFO_STARTTRANSFER_TIME_T, &begun);
  curl_easy_getinfo(transfer->easy, CURLINFO_TOTAL_TIME_T, &all);
  curl_easy_getinfo(transfer->easy, CURLINFO_EFFECTIVE_URL, &url);
  end.delay = std::chrono::microseconds(std::max<curl_off_t>(0, begun - sent));
  end.body = std::chrono::microseconds(std::max<curl_off_t>(0, all - begun));
  if (url) end.url = url;
  long redirects = 0;
  curl_easy_getinfo(transfer->easy, CURLINFO_REDIRECT_COUNT, &redirects);
  end.redirects = static_cast<std::uint64_t>(std::max(0L, redirects) + transfer->redirects);
  long version = 0;
  curl_easy_getinfo(transfer->easy, CURLINFO_HTTP_VERSION, &version);
  end.is_multiplexed = version >= CURL_HTTP_VERSION_2_0;
  curl_multi_remove_handle(multi_, transfer->easy);
  transfer->on_stop.reset();
  transfer->request.on_end(end);
}

}  // namespace

void send(HttpRequest request) {
  const auto on_end = request.on_end;
  try {
    client().add(std::make_unique<Transfer>(std::move(request)));
  } catch (const std::system_error& error) {  // there is no thread for the client; the next request tries again
    HttpEnd end;
    end.trouble = HttpEnd::Trouble::lasting;
    end.error = Error{ErrorKind::io, std::string("no thread could be created: ") + error.what(), -1, errnos::kNoThread};
    on_end(end);
  }
}

}  // namespace tfile
