// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "view/view.h"

namespace tfilefs {
namespace {

using tfile::Record;

TEST(Map, HasTheLinesOfTFileMap) {
  // The output of ROOT 6.40 for a file of this layout, without trailing blanks.
  // 2026-06-16 14:41:25
  const std::uint32_t date = 31u << 26 | 6u << 22 | 16u << 17 | 14u << 12 | 41u << 6 | 25u;
  std::vector<Record> records(5);
  const auto set = [&](std::size_t i, Record::Kind kind, std::uint64_t begin, std::uint64_t size) -> Record& {
    records[i].kind = kind;
    records[i].begin = begin;
    records[i].size = size;
    return records[i];
  };
  set(0, Record::Kind::header, 0, 100);
  Record& file = set(1, Record::Kind::record, 100, 122);
  file.objlen = 75, file.keylen = 47, file.datime = date;
  file.class_name = "TFile", file.name = "/tmp/m_x.root";
  set(2, Record::Kind::gap, 222, 42);
  Record& tree = set(3, Record::Kind::record, 264, 361);
  tree.objlen = 760, tree.keylen = 50, tree.datime = date + 1;
  tree.class_name = "TTree", tree.name = "t", tree.title = "a\nb";
  set(4, Record::Kind::trailing, 625, 7);
  const std::string text = map_text(records);
  EXPECT_EQ(text,
            "20260616/144125  At:100   N=122       TFile                      name: /tmp/m_x.root     title:\n"
            "Address = 222\tNbytes = -42\t=====G A P===========\n"
            "20260616/144126  At:264   N=361       TTree          CX =  2.24  name: t                 title: a\\nb\n"
            "20260616/144126  At:625   N=1         END\n"
            "Address = 625\tNbytes = 7\tafter the end\n");
}

}  // namespace
}  // namespace tfilefs
