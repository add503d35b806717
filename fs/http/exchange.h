// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "descriptor.h"
#include "http/arrival.h"
#include "http/request.h"
#include "http/served_connections.h"

namespace tfilefs {

// One request and its response, from the first header to the last byte. Used by the thread of libmicrohttpd that has
// the connection.
class Exchange {
 public:
  Exchange(ServedConnections&, MHD_Connection*, HttpRequest);

  // Has come with its headers. One that is not let in is answered without its body. MHD_NO ends the connection.
  MHD_Result take_headers();
  // A part of its body came, or, with size 0, all is there, or the answer is.
  MHD_Result go_on(std::size_t upload_size);
  // Puts bytes of the body there; 0: it comes back when they are there.
  ssize_t read(std::uint64_t position, char* to, std::size_t most);
  // It is over.
  void end() { server_.watch.await_request(client_, server_.limits.request_time); }

 private:
  MHD_Result send(HttpResponse);
  // A client of a socket of the file system may ask for a file as memory that it maps: "Tfilefs-Memory: sealed".
  bool is_sent_as_memory(const HttpResponse&) const;
  MHD_Result begin_memory();
  MHD_Result send_as_memory();
  // The first bytes of a file are read before the status is sent: damage is an answer of its own.
  MHD_Result begin_first_piece();
  MHD_Result send_with_first_piece();
  std::size_t take_first(std::uint64_t position, char* to, std::size_t most);
  int socket() const;
  enum class Resumption : std::uint8_t { reads_first, answers_first };
  void set_resumption(Resumption);

  ServedConnections& server_;
  MHD_Connection* const connection_;
  ClientWatch::Client* const client_;
  const std::shared_ptr<const HttpRequest> request_;
  std::size_t uploaded_ = 0;
  Arrival<HttpResponse> answer_;
  HttpResponse waiting_;  // for its memory, or its first piece
  ResponseBody body_;
  Arrival<Slices> piece_;
  std::vector<std::byte> first_;  // from there in the body on; until it is sent
  std::uint64_t first_begin_ = 0;
  Arrival<Descriptor> memory_;
};

}  // namespace tfilefs
