// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <microhttpd.h>

#include "reply.h"

namespace tfilefs {

// The functions of libmicrohttpd that are called. The library is loaded by the first server: Debian's brings one for
// TLS along, and a program that is linked with both starts a quarter slower, whatever it then does.
struct Microhttpd {
  decltype(&MHD_start_daemon) start_daemon;
  decltype(&MHD_quiesce_daemon) quiesce_daemon;
  decltype(&MHD_stop_daemon) stop_daemon;
  decltype(&MHD_suspend_connection) suspend_connection;
  decltype(&MHD_resume_connection) resume_connection;
  decltype(&MHD_set_connection_option) set_connection_option;
  decltype(&MHD_get_connection_info) get_connection_info;
  decltype(&MHD_get_connection_values) get_connection_values;
  decltype(&MHD_create_response_from_callback) create_response_from_callback;
  decltype(&MHD_create_response_from_buffer) create_response_from_buffer;
  decltype(&MHD_add_response_header) add_response_header;
  decltype(&MHD_queue_response) queue_response;
  decltype(&MHD_destroy_response) destroy_response;
};

// Error: unsupported (it is not installed). Blocks.
Result<const Microhttpd*> microhttpd();

}  // namespace tfilefs
