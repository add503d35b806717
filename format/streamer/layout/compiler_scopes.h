// SPDX-License-Identifier: Apache-2.0
// State of LayoutCompiler that lasts while it is inside a type, a class or a member.
#pragma once

#include <string>

#include "streamer/layout/class_layout.h"

namespace tfile {

// Classes nest a few levels. Only a damaged file has a class that contains itself by value.
inline constexpr int kDepthMax = 40;
// The description in a file becomes a program. A class of a thousand members, each of such a class, must not fill the
// memory. This bound also keeps the numbers of registers and packings within 16 bits.
inline constexpr std::size_t kOpsMax = 30'000;

// Bounds the recursion through types and classes.
class LayoutCompiler::RecursionGuard {
 public:
  explicit RecursionGuard(LayoutCompiler& compiler) : compiler_(compiler) { ++compiler_.depth_; }
  ~RecursionGuard() { --compiler_.depth_; }
  Result<> check() const {
    if (compiler_.depth_ > kDepthMax || compiler_.program_.ops.size() + compiler_.open_.size() > kOpsMax)
      return fail(ErrorKind::unsupported, "type is nested too deeply");
    return {};
  }

 private:
  LayoutCompiler& compiler_;
};

// Marks the class whose members are being compiled.
class LayoutCompiler::ClassAround {
 public:
  ClassAround(LayoutCompiler& compiler, const std::string& class_name) : compiler_(compiler) {
    compiler_.classes_around_.push_back(class_name);
  }
  ~ClassAround() { compiler_.classes_around_.pop_back(); }
  ClassAround(const ClassAround&) = delete;
  ClassAround& operator=(const ClassAround&) = delete;

 private:
  LayoutCompiler& compiler_;
};

// Adds the name of a member to the place that is being compiled.
class LayoutCompiler::MemberAround {
 public:
  MemberAround(LayoutCompiler& compiler, const std::string& name)
      : compiler_(compiler), outer_(compiler.place_.size()) {
    compiler_.place_ += '/';
    compiler_.place_ += name;
  }
  ~MemberAround() { compiler_.place_.resize(outer_); }
  MemberAround(const MemberAround&) = delete;
  MemberAround& operator=(const MemberAround&) = delete;

 private:
  LayoutCompiler& compiler_;
  const std::size_t outer_;
};

}  // namespace tfile
