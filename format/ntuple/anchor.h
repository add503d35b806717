// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ntuple/envelope.h"
#include "tfile/result.h"

namespace tfile {

// The object of a key of class ROOT::RNTuple, with the places of header and footer ("Anchor schema").
struct Anchor {
  std::uint16_t epoch = 0, major = 0, minor = 0, patch = 0;
  EnvelopeLink header, footer;
  // Larger blocks are split over several records (ntuple/blob_source.h).
  std::uint64_t max_key_size = 0;
};

// Reads the decompressed payload of the key. Errors: damaged (cut short, or a wrong checksum).
Result<Anchor> read_anchor(std::span<const std::byte> payload);

// "1.0.2.0"
std::string version_text(const Anchor&);

// The version in the payload of a key of class ROOT::Experimental::RNTuple (before 1.0), for messages.
std::string trial_version(std::span<const std::byte> payload);

}  // namespace tfile
