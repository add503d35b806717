// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include "view/plain_text.h"
#include "view/view.h"

namespace tfilefs {
namespace {

// TDatime packs year - 1995, month, day, hour, minute and second into 6, 4, 5, 5, 6 and 6 bits.
std::string date_text(std::uint32_t datime) {
  const unsigned date = ((datime >> 26) + 1995) * 10000 + (datime >> 22 & 0xf) * 100 + (datime >> 17 & 0x1f);
  const unsigned time = (datime >> 12 & 0x1f) * 10000 + (datime >> 6 & 0x3f) * 100 + (datime & 0x3f);
  char text[32];
  std::snprintf(text, sizeof text, "%u/%06u", date, time);
  return text;
}

std::string place_text(const std::string& date, std::uint64_t address, int width, std::uint64_t size,
                       const std::string& class_name) {
  char text[96];
  std::snprintf(text, sizeof text, "%s  At:%-*llu  N=%-8llu  ", date.c_str(), width,
                static_cast<unsigned long long>(address), static_cast<unsigned long long>(size));
  std::string line = text;
  append_plain(line, class_name);
  return line;
}

// Pads the text appended since `begin` to `width`.
void pad(std::string& line, std::size_t begin, std::size_t width) {
  if (line.size() - begin < width) line.append(width - (line.size() - begin), ' ');
}

std::string record_line(const tfile::Record& record, int width) {
  std::string line = place_text(date_text(record.datime), record.begin, width, record.size, "");
  const std::size_t class_begin = line.size();
  append_plain(line, record.class_name);
  pad(line, class_begin, 14);
  char factor[48] = "";
  if (record.size > 0 && std::uint64_t{record.objlen} + record.keylen != record.size)
    std::snprintf(factor, sizeof factor, " CX = %5.2f",
                  static_cast<double>(std::uint64_t{record.objlen} + record.keylen) / static_cast<double>(record.size));
  const std::size_t factor_begin = line.size();
  line += factor;
  pad(line, factor_begin, 11);
  line += "  name: ";
  const std::size_t name_begin = line.size();
  append_plain(line, record.name);
  pad(line, name_begin, 16);
  line += "  title: ";
  append_plain(line, record.title);
  while (line.back() == ' ') line.pop_back();
  return line += '\n';
}

}  // namespace

// The lines of TFile::Map("extended"), without its blanks at line ends. A gap has no date; END has the date of the last
// record. Bytes after fEND have a line of their own.
std::string map_text(const std::vector<tfile::Record>& records) {
  std::uint64_t end = 0;
  std::uint32_t last_date = 0;
  for (const tfile::Record& record : records)
    if (record.kind != tfile::Record::Kind::trailing) end = std::max(end, record.begin + record.size);
  const int width = static_cast<int>(std::to_string(end).size()) + 1;
  std::string text;
  for (const tfile::Record& record : records) {
    if (record.kind == tfile::Record::Kind::record) {
      text += record_line(record, width);
      last_date = record.datime;
    } else if (record.kind == tfile::Record::Kind::gap) {
      text += "Address = " + std::to_string(record.begin) + "\tNbytes = -" + std::to_string(record.size) +
              "\t=====G A P===========\n";
    }
  }
  text += place_text(date_text(last_date), end, width, 1, "END") + '\n';
  for (const tfile::Record& record : records)
    if (record.kind == tfile::Record::Kind::trailing)
      text += "Address = " + std::to_string(record.begin) + "\tNbytes = " + std::to_string(record.size) +
              "\tafter the end\n";
  return text;
}

}  // namespace tfilefs
