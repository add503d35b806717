// SPDX-License-Identifier: Apache-2.0
// dates write FILE SPLIT COMPRESSION BASKET_SIZE ENTRIES: a tree of dates, written by ROOT.
// dates ntuple FILE ENTRIES: an RNTuple of dates.
// dates dump FILE ANSWER: what ROOT says of the dates in the tree, as one Python literal {branch: [entry, ...]}: each
// is (number, text) of a TDatime, (seconds, nanoseconds, text) of a TTimeStamp.
#include "dates.h"

#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>

#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <cstdlib>
#include <fstream>
#include <ostream>

namespace {

TRandom3 dice(11);

int upto(unsigned end) { return int(dice.Integer(end)); }

// Also what is no date: all bits 0 or 1, month 0 or 13, day 0, February 30, hour 24, minute 60, second 60.
constexpr UInt_t packed(UInt_t month, UInt_t day, UInt_t hour, UInt_t minute, UInt_t second) {
  return 29u << 26 | month << 22 | day << 17 | hour << 12 | minute << 6 | second;
}
constexpr UInt_t kNoDates[] = {0,
                               0xffffffff,
                               packed(0, 1, 0, 0, 0),
                               packed(13, 1, 0, 0, 0),
                               packed(1, 0, 0, 0, 0),
                               packed(2, 30, 0, 0, 0),
                               packed(1, 1, 24, 0, 0),
                               packed(1, 1, 0, 60, 0),
                               packed(1, 1, 0, 0, 60)};

void set(TDatime& date, UInt_t number) {
  char bytes[4] = {char(number >> 24), char(number >> 16), char(number >> 8), char(number)};
  char* at = bytes;
  date.ReadBuffer(at);
}

void roll(TDatime& date) {
  date.Set(1995 + upto(64), 1 + upto(12), 1 + upto(28), upto(24), upto(60), upto(60));
  if (upto(6) == 0) set(date, kNoDates[upto(9)]);
}

// Any two numbers, such as ROOT leaves after arithmetic.
void roll(TTimeStamp& time) {
  time.SetSec(upto(5) == 0 ? -upto(2147483647) : upto(2147483647));
  time.SetNanoSec(upto(4) == 0 ? 0 : upto(1000000000));
}

void roll(Shift& shift, int id) {
  shift.id = id;
  roll(shift.begin), roll(shift.end);
}

template <class T>
void roll(std::vector<T>& list) {
  list.resize(size_t(upto(4)));
  for (T& item : list) roll(item);
}

void roll(Watch& watch, int entry) {
  watch.id = entry;
  roll(watch.day), roll(watch.instant), roll(watch.list), roll(watch.stamps);
  for (TDatime& day : watch.days) roll(day);
  for (TTimeStamp& instant : watch.instants) roll(instant);
  delete watch.perhaps;
  watch.perhaps = upto(3) == 0 ? nullptr : new TDatime;
  if (watch.perhaps) roll(*watch.perhaps);
  watch.shifts.resize(size_t(upto(4)));
  for (Shift& shift : watch.shifts) roll(shift, entry);
}

void write(const char* name, int split, int compression, int basket_size, int entries) {
  TFile file(name, "RECREATE", "", compression);
  TTree tree("t", "dates");
  Watch watch;
  TDatime date;
  TTimeStamp time;
  auto* to_watch = &watch;
  auto* to_date = &date;
  auto* to_time = &time;
  tree.Branch("watch.", &to_watch, basket_size, split);
  tree.Branch("date", &to_date, basket_size, split);
  tree.Branch("time", &to_time, basket_size, split);
  for (int entry = 0; entry < entries; entry++) {
    roll(watch, entry), roll(date), roll(time);
    tree.Fill();
  }
  tree.Write();
  file.WriteObjectAny(&date, "TDatime", "one_date");
  file.WriteObjectAny(&time, "TTimeStamp", "one_time");
}

void ntuple(const char* name, int entries) {
  auto model = ROOT::RNTupleModel::Create();
  auto record = model->MakeField<Record>("record");
  auto time = model->MakeField<TTimeStamp>("time");
  auto perhaps = model->MakeField<std::optional<TTimeStamp>>("perhaps");
  model->AddField(std::make_unique<ROOT::RStreamerField>("date", "TDatime"));
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "n", name);
  auto entry = writer->CreateEntry();
  auto date = entry->GetPtr<void>("date");
  record = entry->GetPtr<Record>("record");
  time = entry->GetPtr<TTimeStamp>("time");
  perhaps = entry->GetPtr<std::optional<TTimeStamp>>("perhaps");
  for (int i = 0; i < entries; i++) {
    record->id = i;
    roll(record->instant), roll(record->stamps), roll(*time), roll(*static_cast<TDatime*>(date.get()));
    *perhaps = i % 2 ? std::optional(*time) : std::nullopt;
    writer->Fill(*entry);
  }
}

void put(std::ostream& out, const TDatime& date) {
  const UInt_t number = date.Get();
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d", date.GetYear(), date.GetMonth(), date.GetDay(),
                date.GetHour(), date.GetMinute(), date.GetSecond());
  out << "(" << number << ", '" << text << "')";
}

void put(std::ostream& out, const TTimeStamp& time) {
  UInt_t year, month, day, hour, minute, second;
  time.GetDate(true, 0, &year, &month, &day);
  time.GetTime(true, 0, &hour, &minute, &second);
  char text[40];
  std::snprintf(text, sizeof text, "%04u-%02u-%02uT%02u:%02u:%02u.%09dZ", year, month, day, hour, minute, second,
                time.GetNanoSec());
  out << "(" << Int_t(time.GetSec()) << ", " << time.GetNanoSec() << ", '" << text << "')";
}

template <class T>
void put(std::ostream& out, const T* begin, const T* end) {
  out << "[";
  for (; begin != end; ++begin) put(out, *begin), out << ", ";
  out << "]";
}

void put(std::ostream& out, const Watch& watch) {
  out << "{'day': ", put(out, watch.day), out << ", 'instant': ", put(out, watch.instant);
  out << ", 'days': ", put(out, watch.days, watch.days + 3);
  out << ", 'instants': ", put(out, watch.instants, watch.instants + 2);
  out << ", 'list': ", put(out, watch.list.data(), watch.list.data() + watch.list.size());
  out << ", 'stamps': ", put(out, watch.stamps.data(), watch.stamps.data() + watch.stamps.size());
  out << ", 'perhaps': ";
  if (watch.perhaps)
    put(out, *watch.perhaps);
  else
    out << "None";
  out << ", 'shifts': [";
  for (const Shift& shift : watch.shifts)
    out << "{'begin': ", put(out, shift.begin), out << ", 'end': ", put(out, shift.end), out << "}, ";
  out << "]}";
}

void dump(const char* name, const char* answer) {
  TFile file(name);
  auto* tree = file.Get<TTree>("t");
  Watch* watch = nullptr;
  TDatime* date = nullptr;
  TTimeStamp* time = nullptr;
  tree->SetBranchAddress("watch.", &watch);
  tree->SetBranchAddress("date", &date);
  tree->SetBranchAddress("time", &time);
  std::ofstream out(answer);
  out << "[";
  for (Long64_t i = 0; i < tree->GetEntries(); i++) {
    tree->GetEntry(i);
    out << "{'watch': ", put(out, *watch), out << ", 'date': ", put(out, *date), out << ", 'time': ", put(out, *time);
    out << "},\n";
  }
  out << "]\n";
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "write" && count == 7)
    write(words[2], std::atoi(words[3]), std::atoi(words[4]), std::atoi(words[5]), std::atoi(words[6]));
  else if (what == "ntuple" && count == 4)
    ntuple(words[2], std::atoi(words[3]));
  else if (what == "dump" && count == 4)
    dump(words[2], words[3]);
  else
    return 2;
}
