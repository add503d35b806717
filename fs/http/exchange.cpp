// SPDX-License-Identifier: Apache-2.0
#include "http/exchange.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <variant>

#include "http/plain_response.h"
#include "http/sealed_memory.h"

namespace tfilefs {
namespace {

constexpr const char* kMemoryHeader = "Tfilefs-Memory";
constexpr int kWholeBody = 200, kUnclearFraming = 400;

ClientWatch::Client* client_of(const Microhttpd& library, MHD_Connection* connection) {
  const auto* const info = library.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return static_cast<ClientWatch::Client*>(info->socket_context);
}

ssize_t read_for_library(void* exchange, std::uint64_t position, char* to, std::size_t most) noexcept {
  try {
    return static_cast<Exchange*>(exchange)->read(position, to, most);
  } catch (...) {  // no memory
    return MHD_CONTENT_READER_END_WITH_ERROR;
  }
}

}  // namespace

Exchange::Exchange(ServedConnections& server, MHD_Connection* connection, HttpRequest request)
    : server_(server),
      connection_(connection),
      client_(client_of(server.library, connection)),
      request_(std::make_shared<const HttpRequest>(std::move(request))),
      answer_(server, connection),
      piece_(server, connection),
      memory_(server, connection) {}

MHD_Result Exchange::take_headers() {
  server_.watch.await_request(client_, server_.limits.request_time);
  if (!request_->is_well_framed()) {
    HttpResponse response = text_response(kUnclearFraming, "where the request ends is not clear\n");
    response.headers.emplace_back("Connection", "close");
    return send(std::move(response));
  }
  // The library closes connections that are answered here, before the body: others go on.
  const bool has_body =
      request_->header("Content-Length").value_or("0") != "0" || request_->header("Transfer-Encoding");
  // It takes what follows a request that expects to be told to go on for its body, even if there is none.
  if (!has_body) return request_->header("Expect") ? go_on(0) : MHD_YES;
  auto judged = server_.service.judge(*request_);
  auto* const response = std::get_if<HttpResponse>(&judged);
  return response ? send(std::move(*response)) : MHD_YES;
}

MHD_Result Exchange::go_on(std::size_t upload_size) {
  if (upload_size > 0) {
    uploaded_ += upload_size;
    return uploaded_ > server_.limits.upload_bytes ? MHD_NO : MHD_YES;
  }
  if (memory_.is_begun()) return send_as_memory();
  if (piece_.is_begun()) return send_with_first_piece();
  if (!answer_.is_begun()) {
    set_resumption(Resumption::answers_first);
    auto judged = server_.service.judge(*request_);
    if (auto* const response = std::get_if<HttpResponse>(&judged)) return send(std::move(*response));
    const auto ask = [&](Reply<HttpResponse> reply) {
      server_.service.answer(request_, std::get<RequestPath>(std::move(judged)), std::move(reply));
    };
    if (!answer_.begin(client_, request_->is_http_1_1, ask)) return MHD_NO;
  }
  auto response = answer_.take();
  if (!response) return MHD_YES;
  if (!*response) return MHD_NO;
  waiting_ = **std::move(response);
  return is_sent_as_memory(waiting_) ? begin_memory() : begin_first_piece();
}

MHD_Result Exchange::begin_memory() {
  waiting_.headers.emplace_back(kMemoryHeader, std::to_string(waiting_.body.size()));
  const auto ask = [&](Reply<Descriptor> reply) { seal_in_memory(std::exchange(waiting_.body, {}), std::move(reply)); };
  return memory_.begin(client_, false, ask) ? send_as_memory() : MHD_NO;
}

MHD_Result Exchange::begin_first_piece() {
  const auto begin = request_->method == "GET" ? waiting_.body.begin_of_file() : std::nullopt;
  if (!begin) return send(std::move(waiting_));
  first_begin_ = *begin;
  const auto ask = [&](Reply<Slices> reply) {
    waiting_.body.read(*begin, server_.limits.block_bytes, std::move(reply));
  };
  return piece_.begin(client_, request_->is_http_1_1, ask) ? send_with_first_piece() : MHD_NO;
}

MHD_Result Exchange::send_with_first_piece() {
  const auto piece = piece_.take();
  if (!piece) return MHD_YES;
  if (!*piece) return send(error_response(piece->error()));
  // A copy: what it was read from may have to leave before a slow client takes it.
  first_.resize((*piece)->size());
  copy_slices(**piece, first_.data());
  return send(std::move(waiting_));
}

int Exchange::socket() const {
  return server_.library.get_connection_info(connection_, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

// A connection that is resumed is read from, unless its idle time is one of its own: such connections are gone through
// first. Where its client has closed its sending direction, reading ends it.
void Exchange::set_resumption(Resumption resumption) {
  const auto idle = static_cast<unsigned>(server_.limits.idle_time().count());
  (void)server_.library.set_connection_option(connection_, MHD_CONNECTION_OPTION_TIMEOUT,
                                              resumption == Resumption::answers_first ? idle + 1 : idle);
}

bool Exchange::is_sent_as_memory(const HttpResponse& response) const {
  return response.status == kWholeBody && response.body.size() > 0 && request_->method == "GET" &&
         request_->header(kMemoryHeader) && takes_descriptors(socket());
}

MHD_Result Exchange::send_as_memory() {
  const auto memory = memory_.take();
  if (!memory) return MHD_YES;
  if (!*memory) return send(error_response(memory->error()));
  return pass_descriptor(socket(), (*memory)->get()) ? send(std::move(waiting_)) : MHD_NO;
}

MHD_Result Exchange::send(HttpResponse response) {
  const Microhttpd& library = server_.library;
  body_ = std::move(response.body);
  set_resumption(Resumption::reads_first);
  server_.watch.allow(client_, server_.limits.block_time);
  const std::uint64_t size = body_.has_size() ? body_.size() : MHD_SIZE_UNKNOWN;
  // A body without a size goes through the memory for requests, but to clients of HTTP/1.0.
  const std::size_t block = body_.has_size() ? server_.limits.block_bytes : server_.limits.request_bytes;
  MHD_Response* const made = size == 0
                                 ? library.create_response_from_buffer(0, nullptr, MHD_RESPMEM_PERSISTENT)
                                 : library.create_response_from_callback(size, block, read_for_library, this, nullptr);
  if (!made) return MHD_NO;
  bool good = true;
  for (const auto& [name, value] : response.headers)
    good = good && library.add_response_header(made, name.c_str(), value.c_str()) == MHD_YES;
  good = good && library.queue_response(connection_, static_cast<unsigned>(response.status), made) == MHD_YES;
  library.destroy_response(made);
  return good ? MHD_YES : MHD_NO;
}

std::size_t Exchange::take_first(std::uint64_t position, char* to, std::size_t most) {
  if (position < first_begin_ || position - first_begin_ >= first_.size()) return 0;
  const auto left = std::span(first_).subspan(position - first_begin_);
  const std::size_t size = std::min(most, left.size());
  std::memcpy(to, left.data(), size);
  if (size == left.size()) first_ = {};
  return size;
}

ssize_t Exchange::read(std::uint64_t position, char* to, std::size_t most) {
  if (const std::size_t taken = take_first(position, to, most); taken > 0) {
    server_.watch.allow(client_, server_.limits.block_time);
    return static_cast<ssize_t>(taken);
  }
  const auto ask = [&](Reply<Slices> reply) { body_.read(position, most, std::move(reply)); };
  if (!piece_.is_begun() && !piece_.begin(client_, false, ask)) return MHD_CONTENT_READER_END_WITH_ERROR;
  const auto piece = piece_.take();
  if (!piece) return 0;
  server_.watch.allow(client_, server_.limits.block_time);
  if (!*piece) return MHD_CONTENT_READER_END_WITH_ERROR;
  const std::size_t size = (*piece)->size();
  if (size == 0) return MHD_CONTENT_READER_END_OF_STREAM;
  copy_slices(**piece, reinterpret_cast<std::byte*>(to));
  return static_cast<ssize_t>(size);
}

}  // namespace tfilefs
