// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "descriptor.h"
#include "http/response_body.h"

namespace tfilefs {

// All bytes of a body in memory that nobody can change any more (memfd_create(2)), for a client of this machine to map.
// Does not wait for storage. Errors: those of ResponseBody::read; system_error().
void seal_in_memory(ResponseBody, Reply<Descriptor>);

// Whether the other end of a socket is on this machine by its file system, so that it can be passed descriptors.
bool takes_descriptors(int socket);

// Passes one in front of what is sent next, with the byte 'M'. False if it cannot be.
bool pass_descriptor(int socket, int descriptor);

}  // namespace tfilefs
