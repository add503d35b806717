// SPDX-License-Identifier: Apache-2.0
#include "control/reads.h"

#include "control/stats.h"
#include "tfile/json_writer.h"

namespace tfilefs {
namespace {

using tfile::JsonWriter;

double in_seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

void write_logged_file(JsonWriter& json, const std::string& name, const LoggedFile& file) {
  json.begin_object().member("file", file.number).member("name", name).member("size", file.size);
  json.member("reads", file.reads).member("bytes", file.bytes).key("seconds").seconds(in_seconds(file.took));
  json.member("seeks", file.seeks).member("bytes_between", file.bytes_between).end_object();
}

void write_logged_read(JsonWriter& json, const LoggedRead& read) {
  json.begin_object().member("number", read.number).member("file", read.file).member("offset", read.range.begin);
  json.member("bytes", read.range.size).key("at").seconds(in_seconds(read.at));
  json.key("seconds").seconds(in_seconds(read.took));
  json.member("from", kReadsFrom[static_cast<std::size_t>(read.from)]).key("entries");
  if (read.entries.size() > 0)
    json.begin_array().number(read.entries.begin).number(read.entries.end).end_array();
  else
    json.null();
  json.end_object();
}

}  // namespace

std::string reads_text(const ReadLog::Report& report, const ReadCounts& total) {
  constexpr std::size_t kReadText = 160;  // bytes, somewhat more than most take
  JsonWriter json;
  json.reserve(report.last.size() * kReadText);
  json.begin_object().member("tfilefs", 1).key("uptime_seconds").seconds(in_seconds(report.now));
  json.member("reads", report.reads).line().key("cache").begin_object();
  write_counts(json, total);
  json.end_object().line().key("files").begin_array();
  for (const auto& [name, file] : report.files) {
    json.line(1);
    write_logged_file(json, name, file);
  }
  json.end_array().line().key("last").begin_array();
  for (const LoggedRead& read : report.last) {
    json.line(1);
    write_logged_read(json, read);
  }
  return json.end_array().end_object().take() + "\n";
}

}  // namespace tfilefs
