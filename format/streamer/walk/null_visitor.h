// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "streamer/walk/object_visitor.h"

namespace tfile {

// Ignores all values: used to find the end of a value, and as a base where one kind of event matters.
class NullVisitor : public ObjectVisitor {
 public:
  void begin_object(std::string_view, std::uint32_t) override {}
  void end_object() override {}
  void member(std::string_view) override {}
  void begin_pair(std::string_view) override {}
  void begin_list() override {}
  void end_list() override {}
  void number(const StoredNumbers&) override {}
  void numbers(const StoredNumbers&, std::span<const std::uint32_t>) override {}
  void text(std::string_view) override {}
  void null() override {}
  void reference(std::uint32_t) override {}
  void unread(std::string_view) override {}
};

}  // namespace tfile
