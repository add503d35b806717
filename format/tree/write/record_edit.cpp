// SPDX-License-Identifier: Apache-2.0
#include "tree/write/record_edit.h"

#include <algorithm>
#include <utility>

#include "tfile/check.h"

namespace tfile {
namespace {

using MarkKind = RecordMark::Kind;

// The depth of references between omitted objects. In real records (a leaf, and the leaf that counts it) it is two.
constexpr int kDepthMax = 16;

std::size_t first_mark(const RecordOutline& outline, std::uint32_t at) {
  const auto found = std::ranges::lower_bound(outline.marks, at, {}, &RecordMark::at);
  return static_cast<std::size_t>(found - outline.marks.begin());
}

}  // namespace

std::vector<std::byte> RecordEdit::write(std::uint32_t keylen) {
  // Appending to an array comes before a replacement of the bytes after it.
  std::ranges::sort(edits_, {}, [](const Edit& edit) { return std::pair(edit.where.begin, edit.where.end); });
  TFILE_DCHECK(std::ranges::adjacent_find(edits_, [](const Edit& one, const Edit& next) {
                 return one.where.end > next.where.begin;
               }) == edits_.end());
  ObjectAppender out(keylen);
  copy(out, {0, static_cast<std::uint32_t>(payload_.size())}, true);
  return out.take();
}

struct RecordEdit::Copying {
  struct Open {
    std::size_t at;  // in the output
    std::uint32_t begin, end;
  };

  RecordEdit& of;
  ObjectAppender& out;
  std::uint32_t done;      // copied up to there
  std::size_t edit, mark;  // the next ones
  std::vector<Open> open = {};

  void copy_to(std::uint32_t to) {
    out.bytes(of.bytes(done, to));
    done = to;
  }
  void take_edit() {
    const Edit& next = of.edits_[edit++];
    copy_to(next.where.begin);
    next.write(out);
    done = next.where.end;
    if (next.where) mark = first_mark(of.outline_, done);
  }
  void end_frame() {
    copy_to(open.back().end);
    out.close(open.back().at);
    open.pop_back();
  }
  void take_mark() {
    const RecordMark& found = of.outline_.marks[mark++];
    const auto behind_number = found.at + static_cast<std::uint32_t>(sizeof(std::uint32_t));
    copy_to(found.at);
    if (found.kind == MarkKind::frame) {
      of.written_[found.at] = out.size();
      open.push_back({out.size(), found.at, found.other});
      return copy_to(behind_number);
    }
    of.copy_mark(out, found);
    done = found.kind == MarkKind::class_tag ? found.other : behind_number;
  }
};

// Copies the stretch, with or without its edits.
void RecordEdit::copy(ObjectAppender& out, Stretch where, bool edited) {
  Copying copying{*this, out, where.begin, edited ? 0 : edits_.size(), first_mark(outline_, where.begin)};
  const std::size_t &edit = copying.edit, &mark = copying.mark;
  const auto& open = copying.open;
  for (;;) {
    const std::uint32_t next_end = open.empty() ? where.end : open.back().end;
    const std::uint32_t next_mark = mark < outline_.marks.size() ? outline_.marks[mark].at : where.end;
    const std::uint32_t next_edit = edit < edits_.size() ? edits_[edit].where.begin : where.end;
    // At the end of a frame, an insertion may belong inside it; a replacement comes after it.
    const bool is_inside =
        edit < edits_.size() && (next_edit < next_end || open.empty() || open.back().begin <= edits_[edit].inside);
    if (edit < edits_.size() && next_edit <= next_mark && is_inside) {
      copying.take_edit();
    } else if (!open.empty() && next_end <= next_mark) {
      copying.end_frame();
    } else if (mark < outline_.marks.size() && next_mark < where.end) {
      copying.take_mark();
    } else {
      return copying.copy_to(where.end);
    }
  }
}

void RecordEdit::copy_mark(ObjectAppender& out, const RecordMark& mark) {
  if (mark.kind == MarkKind::class_tag) return out.class_tag(mark.class_name);
  if (const auto known = written_.find(mark.other); known != written_.end()) return out.reference(known->second);
  // The object was omitted in its old place, so this reference becomes its new place.
  const std::size_t target = first_mark(outline_, mark.other);
  const bool is_object = target < outline_.marks.size() && outline_.marks[target].at == mark.other;
  if (!is_object || depth_ == kDepthMax) return out.null_pointer();
  ++depth_;
  copy(out, {mark.other, outline_.marks[target].other}, false);
  --depth_;
}

}  // namespace tfile
