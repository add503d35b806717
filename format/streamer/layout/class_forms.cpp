// SPDX-License-Identifier: Apache-2.0
// Objects of one class written by several of its versions, as in a file merged from others. Their members go to the
// columns of the main version by name.
#include <algorithm>
#include <utility>

#include "streamer/layout/class_layout.h"
#include "streamer/layout/compiler_scopes.h"

namespace tfile {
namespace {

bool same_member(const StreamerElement& a, const StreamerElement& b) {
  return a.name == b.name && a.type == b.type && a.type_name == b.type_name && a.array_length == b.array_length &&
         a.count_name == b.count_name && (a.type != element_type::kDouble32 || a.title == b.title);
}

bool same_members(const StreamerInfo& a, const StreamerInfo& b) {
  return std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(), same_member);
}

// Whether both fill the same slots with the same values.
bool alike(const Shape& a, const Shape& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.shape == b.shape && a.slot == b.slot &&
         a.is_optional == b.is_optional &&
         std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), alike);
}

}  // namespace

// A version with a member of the same name but another type gets no form, so its objects are an error.
std::uint16_t LayoutCompiler::other_forms(const StreamerInfo& main, const Shape& record,
                                          const std::vector<SlotRange>& places) {
  ClassVersions forms;
  forms.main = {main.version, main.checksum, {}};
  if (passing_over_) return 0;
  for (const auto& other : infos_.from_file()) {
    if (other.get() == &main || other->class_name != main.class_name || same_members(*other, main)) continue;
    if (forms_left_-- <= 0) break;
    const Mark before = mark();
    const std::size_t counters = counters_.size();
    const bool outer_forms_differ = std::exchange(forms_differ_, false);
    ClassVersions::Written form{other->version, other->checksum, {}};
    const Result<> done = in_block(form.block, [&] { return form_members(*other, main, record, places); });
    counters_.erase(counters_.begin() + static_cast<std::ptrdiff_t>(counters), counters_.end());
    if (done && !forms_differ_ && program_.slots.size() == before.slots) {
      next_slot_ = before.next_slot;
      forms.others.push_back(form);
    } else {
      back_to(before);
    }
    forms_differ_ = outer_forms_differ;
  }
  if (forms.others.empty() || program_.forms.size() >= 0xFFFF) return 0;
  program_.forms.push_back(std::move(forms));
  return static_cast<std::uint16_t>(program_.forms.size());
}

Result<> LayoutCompiler::form_members(const StreamerInfo& other, const StreamerInfo& main, const Shape& record,
                                      const std::vector<SlotRange>& places) {
  const ClassAround around(*this, main.class_name);
  std::vector<bool> is_there(places.size());
  for (const StreamerElement& e : other.elements) {
    const auto found =
        std::find_if(main.elements.begin(), main.elements.end(), [&](const auto& m) { return m.name == e.name; });
    const auto i = static_cast<std::size_t>(found - main.elements.begin());
    if (i >= places.size() || is_there[i]) {
      const bool outer = std::exchange(passing_over_, true);
      const auto passed_over = element(e);
      passing_over_ = outer;
      if (!passed_over) return tl::unexpected<Error>(passed_over.error());
      continue;
    }
    // Lays out a base as the main version has it; the base's own header has the version that wrote it.
    next_slot_ = places[i].begin;
    TRY(const Shape part, element(is_base(e) && is_base(*found) ? *found : e));
    if (next_slot_ != places[i].end || !alike(part, record.parts[i]))
      return fail(ErrorKind::unsupported, "member " + e.name + " has a different type in another version");
    is_there[i] = true;
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!is_there[i]) nothing_of(record.parts[i]);
  }
  return {};
}

// Like ROOT, fills a member that was not written with zero or no items.
void LayoutCompiler::nothing_of(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::number:
      return add({.kind = Op::Kind::zero, .slot = shape.slot});
    case Shape::Kind::variant:
      add({.kind = Op::Kind::zero, .slot = shape.slot});
      return add({.kind = Op::Kind::zero, .slot = shape.slot + 1});
    case Shape::Kind::list:
    case Shape::Kind::string:
    case Shape::Kind::raw:
      return add({.kind = Op::Kind::no_items, .slot = shape.slot});
    case Shape::Kind::record:
      for (const Shape& part : shape.parts) nothing_of(part);
  }
}

}  // namespace tfile
