// SPDX-License-Identifier: Apache-2.0
#include "tfile/json_writer.h"
#include "view/view.h"

namespace tfilefs {
namespace {

using tfile::JsonWriter;

void write_member(JsonWriter& json, const tfile::ClassMember& member) {
  json.begin_object();
  json.member("kind", member.kind).member("fName", member.name).member("fTitle", member.title);
  json.member("fType", member.type).member("fSize", member.size);
  json.member("fArrayLength", member.array_length).member("fArrayDim", member.array_dim);
  json.key("fMaxIndex").begin_array();
  for (const std::int32_t n : member.max_index) json.number(n);
  json.end_array();
  json.member("fTypeName", member.type_name);
  if (member.kind == "TStreamerBase") json.member("fBaseVersion", member.base_version);
  if (!member.count_name.empty())
    json.member("fCountName", member.count_name).member("fCountClass", member.count_class);
  if (member.kind.starts_with("TStreamerSTL"))
    json.member("fSTLtype", member.stl_type).member("fCtype", member.stl_content);
  json.end_object();
}

}  // namespace

std::string streamer_info_text(const tfile::FileClasses& classes) {
  JsonWriter json;
  json.begin_object().member("tfilefs", 1).key("classes").begin_array();
  for (const tfile::ClassDescription& one : classes.descriptions) {
    json.line(1).begin_object();
    json.member("name", one.name).member("version", one.version).member("checksum", one.checksum);
    json.key("elements").begin_array();
    for (const tfile::ClassMember& member : one.members) {
      json.line(3);
      write_member(json, member);
    }
    json.end_array().end_object();
  }
  return json.end_array().end_object().take() + "\n";
}

}  // namespace tfilefs
