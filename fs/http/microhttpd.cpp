// SPDX-License-Identifier: Apache-2.0
#include "http/microhttpd.h"

#ifndef TFILEFS_MICROHTTPD_LINKED
#include <dlfcn.h>
#endif

#include <string>

namespace tfilefs {
namespace {

#ifdef TFILEFS_MICROHTTPD_LINKED

Result<Microhttpd> load_microhttpd() {
  return Microhttpd{MHD_start_daemon,
                    MHD_quiesce_daemon,
                    MHD_stop_daemon,
                    MHD_suspend_connection,
                    MHD_resume_connection,
                    MHD_set_connection_option,
                    MHD_get_connection_info,
                    MHD_get_connection_values,
                    MHD_create_response_from_callback,
                    MHD_create_response_from_buffer,
                    MHD_add_response_header,
                    MHD_queue_response,
                    MHD_destroy_response};
}

#else

template <class Function>
bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// Never unloaded.
Result<Microhttpd> load_microhttpd() {
  Microhttpd all{};
  void* const library = ::dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
  const bool is_whole =
      library && find_function(library, "MHD_start_daemon", all.start_daemon) &&
      find_function(library, "MHD_quiesce_daemon", all.quiesce_daemon) &&
      find_function(library, "MHD_stop_daemon", all.stop_daemon) &&
      find_function(library, "MHD_suspend_connection", all.suspend_connection) &&
      find_function(library, "MHD_resume_connection", all.resume_connection) &&
      find_function(library, "MHD_set_connection_option", all.set_connection_option) &&
      find_function(library, "MHD_get_connection_info", all.get_connection_info) &&
      find_function(library, "MHD_get_connection_values", all.get_connection_values) &&
      find_function(library, "MHD_create_response_from_callback", all.create_response_from_callback) &&
      find_function(library, "MHD_create_response_from_buffer", all.create_response_from_buffer) &&
      find_function(library, "MHD_add_response_header", all.add_response_header) &&
      find_function(library, "MHD_queue_response", all.queue_response) &&
      find_function(library, "MHD_destroy_response", all.destroy_response);
  if (is_whole) return all;
  const char* const why = ::dlerror();
  return tfile::fail(ErrorKind::unsupported, std::string("cannot load the library that serves HTTP (Debian: ") +
                                                 "libmicrohttpd12): " + (why ? why : "unknown"));
}

#endif

}  // namespace

Result<const Microhttpd*> microhttpd() {
  static const Result<Microhttpd> loaded = load_microhttpd();
  if (!loaded) return tl::unexpected(loaded.error());
  return &*loaded;
}

}  // namespace tfilefs
