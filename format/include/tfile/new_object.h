// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/node.h"
#include "tfile/result.h"

namespace tfile {

class StreamerInfos;

// An object that is offered to a file, as a mount shows it.
struct OfferedObject {
  std::string name;                     // of its key
  std::string class_name;               // empty: that of `descriptions`
  std::optional<std::string> title;     // of its key; nothing: that of the object, or of its class
  std::vector<std::byte> payload;       // object.bin
  std::vector<std::byte> descriptions;  // object.streamerinfo; may be empty
};

// A histogram that is offered as arrays.
struct OfferedHistogram {
  std::string name, title;
  std::string class_name;  // empty: by the type of the values
  struct Numbers {
    Dtype dtype = Dtype::f8;
    std::vector<std::byte> bytes;  // little-endian
    std::size_t count() const { return bytes.size() / size_of(dtype); }
  };
  struct Grid : Numbers {
    std::vector<std::uint32_t> shape;  // of the numbers at one x, which is the slowest axis
  };
  std::vector<Numbers> edges;  // of each axis, at most three: one more than it has bins
  std::optional<Grid> values;
  std::optional<Grid> variances;                    // none: the absolute values
  std::optional<Grid> flow_values, flow_variances;  // the same with underflow and overflow bins
  // A profile has them: the sums of weights and, unless all weights are 1, of their squares. The values are sums of
  // weight times value, and the variances those of weight times its square; both are needed.
  std::optional<Grid> flow_weights, flow_weight_squares;
  // Sums over what was filled within all axes, as TH1::GetStats() has them: the value of a profile is behind its axes.
  struct Moments {
    double weights = 0, squares = 0;          // squares: of weights
    std::array<double, 3> first{}, second{};  // of weight times x, y and z, and times their squares
    double xy = 0, xz = 0, yz = 0;
  };
  std::optional<Moments> moments;  // none: those of the bins, each value in the middle of its bin
  std::optional<double> entries;   // also beyond the axes; none: as the bins tell
};

// An object that can be written.
struct NewObject {
  std::string name, class_name, title;
  std::vector<std::byte> payload;
  std::uint32_t keylen = 0;                    // of the key from whose start its references count; 0: it has none
  std::vector<std::string> classes;            // whose bytes are in it
  std::shared_ptr<const StreamerInfos> infos;  // by which it can be read
};

// Checks that the bytes are those of an object of its class, as far as the class is described. Errors: invalid (no
// class, not its bytes), unsupported (a table or a directory).
Result<NewObject> new_object(OfferedObject);

// The payload with references that count from the start of a key of another length. Errors: unsupported (a part cannot
// be read, so that it is not known what refers to what).
Result<std::vector<std::byte>> payload_of_key(const NewObject&, std::uint32_t keylen);

// A TH1, TH2, TH3, TProfile or TProfile2D with these contents. Errors: invalid (arrays that do not fit together or
// contradict each other, edges that do not ascend, numbers that the class cannot hold exactly).
Result<NewObject> new_histogram(const OfferedHistogram&);

}  // namespace tfile
