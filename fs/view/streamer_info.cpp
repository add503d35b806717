// SPDX-License-Identifier: Apache-2.0
#include "json/json_text.h"
#include "view/view.h"

namespace tfilefs {
namespace {

class Text {
 public:
  void name(std::string_view key) {
    text_ += std::exchange(first_, false) ? "" : ", ";
    text_ += '"';
    text_ += key;
    text_ += "\": ";
  }
  void quoted(std::string_view key, std::string_view value) {
    name(key);
    append_json_string(text_, value);
  }
  void number(std::string_view key, std::int64_t value) {
    name(key);
    text_ += std::to_string(value);
  }
  void open(std::string_view bracket) {
    text_ += bracket;
    first_ = true;
  }
  void close(std::string_view bracket) {
    text_ += bracket;
    first_ = false;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  bool first_ = true;
};

void append_member(Text& text, const tfile::ClassMember& member) {
  text.open("{");
  text.quoted("kind", member.kind);
  text.quoted("fName", member.name);
  text.quoted("fTitle", member.title);
  text.number("fType", member.type);
  text.number("fSize", member.size);
  text.number("fArrayLength", member.array_length);
  text.number("fArrayDim", member.array_dim);
  text.name("fMaxIndex");
  std::string indices = "[";
  for (const std::int32_t n : member.max_index) indices += (indices.size() > 1 ? ", " : "") + std::to_string(n);
  text.close(indices + "]");
  text.quoted("fTypeName", member.type_name);
  if (member.kind == "TStreamerBase") text.number("fBaseVersion", member.base_version);
  if (!member.count_name.empty()) {
    text.quoted("fCountName", member.count_name);
    text.quoted("fCountClass", member.count_class);
  }
  if (member.kind.starts_with("TStreamerSTL")) {
    text.number("fSTLtype", member.stl_type);
    text.number("fCtype", member.stl_content);
  }
  text.close("}");
}

}  // namespace

std::string streamer_info_text(const tfile::FileClasses& classes) {
  Text text;
  text.open("{");
  text.number("tfilefs", 1);
  text.name("classes");
  text.open("[");
  bool first = true;
  for (const tfile::ClassDescription& one : classes.descriptions) {
    text.open(std::exchange(first, false) ? "\n {" : ",\n {");
    text.quoted("name", one.name);
    text.number("version", one.version);
    text.number("checksum", one.checksum);
    text.name("elements");
    text.open("[");
    bool first_member = true;
    for (const tfile::ClassMember& member : one.members) {
      text.open(std::exchange(first_member, false) ? "\n   " : ",\n   ");
      append_member(text, member);
    }
    text.close("]");
    text.close("}");
  }
  text.close("]}\n");
  return text.take();
}

}  // namespace tfilefs
