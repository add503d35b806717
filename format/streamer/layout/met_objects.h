// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tfile {

// The objects in the pointer slots of one entry, for slots that refer to an earlier object.
class MetObjects {
 public:
  struct Object {
    std::uint32_t identity = 0;  // ObjectTag::identity
    std::string_view class_name;
    std::size_t body = 0;      // position after the class tag
    bool is_complete = false;  // false while it is being read
    std::uint16_t table = 0;   // the pointer that held it, and its item there (-1: not an item of an alternative)
    std::int64_t item = -1;
  };

  void clear() { objects_.clear(); }

  // Adds an object. Identities are positions, so they come in increasing order. Returns the number of the object.
  std::size_t add(const Object& object) {
    objects_.push_back(object);
    return objects_.size() - 1;
  }
  Object& at(std::size_t number) { return objects_[number]; }

  const Object* find(std::uint32_t identity) const {
    const auto found =
        std::lower_bound(objects_.begin(), objects_.end(), identity,
                         [](const Object& object, std::uint32_t wanted) { return object.identity < wanted; });
    return found == objects_.end() || found->identity != identity ? nullptr : &*found;
  }

 private:
  std::vector<Object> objects_;
};

}  // namespace tfile
