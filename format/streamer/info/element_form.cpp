// SPDX-License-Identifier: Apache-2.0
#include "streamer/info/element_form.h"

#include <algorithm>
#include <iterator>

namespace tfile {
namespace {

using namespace element_type;
using Kind = ElementForm::Kind;

// The kinds of the codes from kObject to kStlp.
constexpr Kind kOfObjects[] = {Kind::object, Kind::object, Kind::object,  Kind::pointer, Kind::tstring, Kind::tobject,
                               Kind::tnamed, Kind::object, Kind::pointer, Kind::pointer, Kind::by_name};
static_assert(std::size(kOfObjects) == kStlp - kObject + 1);

// In the order of ElementKind.
constexpr ElementClass kElementClasses[] = {
    {ElementKind::base, "TStreamerBase", 3},
    {ElementKind::basic, "TStreamerBasicType", 2},
    {ElementKind::basic_pointer, "TStreamerBasicPointer", 2},
    {ElementKind::loop, "TStreamerLoop", 2},
    {ElementKind::object, "TStreamerObject", 2},
    {ElementKind::object_any, "TStreamerObjectAny", 2},
    {ElementKind::object_pointer, "TStreamerObjectPointer", 2},
    {ElementKind::object_any_pointer, "TStreamerObjectAnyPointer", 1},
    {ElementKind::string, "TStreamerString", 2},
    {ElementKind::stl, "TStreamerSTL", 3},
    {ElementKind::stl_string, "TStreamerSTLstring", 2},
    {ElementKind::artificial, "TStreamerArtificial", 0},
    {ElementKind::unknown, "TStreamerElement", 4},
};
static_assert(std::size(kElementClasses) == static_cast<std::size_t>(ElementKind::unknown) + 1);

}  // namespace

const ElementClass& element_class(ElementKind kind) { return kElementClasses[static_cast<std::size_t>(kind)]; }

const ElementClass& element_class(std::string_view name) {
  const auto found = std::ranges::find(kElementClasses, name, &ElementClass::name);
  return found == std::end(kElementClasses) ? element_class(ElementKind::unknown) : *found;
}

ElementForm form_of(const StreamerElement& e) {
  const int type = e.type;
  if (is_base(e)) return {Kind::base};
  if (e.kind == ElementKind::stl || e.kind == ElementKind::stl_string) return {Kind::collection};
  if (type == kCharStar) return {Kind::c_string};
  if (type > kBase && type < kOffsetArray) return {Kind::number, false, type};
  if (type > kOffsetArray && type < kOffsetPointer) return {Kind::number, true, type - kOffsetArray};
  if (type > kOffsetPointer && type < kObject) return {Kind::counted, false, type - kOffsetPointer};
  if (type == kStreamLoop || type == kStreamLoop + kOffsetArray) return {Kind::loop};
  if (type == kStreamer) return {Kind::by_name};
  if (type < kObject) return {};
  const bool is_array = type >= kObject + kOffsetArray;
  const auto place = static_cast<std::size_t>(type - kObject - (is_array ? kOffsetArray : 0));
  if (place >= std::size(kOfObjects)) return {};
  // In most files, an array of pointers has the code of a pointer.
  return {kOfObjects[place], is_array || (kOfObjects[place] == Kind::pointer && e.array_length > 0)};
}

}  // namespace tfile
