// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/result.h"

namespace tfile {

// Reads XML as its bytes come. The bytes may be anyone's: a document type, which could define entities, is refused;
// depth, texts and tags are bounded; nothing outside of the text is ever opened.
class XmlReader {
 public:
  // Called at the end of each element. `path`: the names of the elements from the outermost to this one, without their
  // namespaces. `text`: what stands in the element itself. An error ends the reading.
  using OnElement = std::function<Result<>(std::span<const std::string> path, std::string_view text)>;
  explicit XmlReader(OnElement);
  ~XmlReader();
  XmlReader(XmlReader&&) noexcept;
  XmlReader& operator=(XmlReader&&) noexcept;

  // The next bytes. Errors: damaged (no XML, or beyond a bound), and those of the function.
  Result<> feed(std::span<const std::byte>);
  // There are no more. Error: damaged, if the text is not complete.
  Result<> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether a path consists of these names.
bool is(std::span<const std::string> path, std::initializer_list<std::string_view> wanted);

// The number that is the whole text, else 0.
std::uint64_t number_of(std::string_view text);

}  // namespace tfile
