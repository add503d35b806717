// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "streamer/info/streamer_info.h"
#include "tree/write/branch_form.h"

namespace tfile {

// The class that is made for records. Its name follows from the names and types of its members: so equal
// classes of any two files have one name, and different ones never do. ROOT keeps one class of a name for all files.
std::string record_class_name(const WrittenBranch& records);

// The class of the items of a map: "pair<string,int>". ROOT has a dictionary for the map of each such class.
std::string pair_class_name(const WrittenBranch& map);

// Whether a map of texts to such numbers has a dictionary in ROOT.
bool maps_to(Dtype);

// Makes records of `key` and `value`, in this order, those of a map.
void make_map(WrittenBranch& records);

// TClass::GetCheckSum of the class of such a map.
std::uint32_t map_checksum(const WrittenBranch& map);

// Its description.
StreamerInfo record_class_info(const WrittenBranch& records);

// The last part of ROOT's name of a member whose first column this is: "x" of "hits/values/x.f4", and of
// "hits/values/x/offsets.i8". `is_number`: it has no other column, so one called chars.u1 is no text.
std::string member_name(const InputColumn& first, bool is_number);

// Names the branches of the members, as those of a class: "hits.x", "hits.pos[3]". The name of an object ends in a dot.
void name_members(WrittenBranch& records, const std::string& class_name);

// The name of the leaf of such a list, and of that of a member: "hits_", "hits.pos".
std::string records_leaf_name(const WrittenBranch& records);
std::string member_leaf_name(const WrittenBranch& records, const WrittenBranch& member);

}  // namespace tfile
