// SPDX-License-Identifier: Apache-2.0
// ROOT's classes of dates as members, in lists and behind pointers.
#pragma once
#include <TDatime.h>
#include <TTimeStamp.h>

#include <vector>

struct Shift {
  int id = 0;
  TDatime begin;
  TTimeStamp end;
};

struct Watch {
  int id = 0;
  TDatime day;
  TTimeStamp instant;
  TDatime days[3];
  TTimeStamp instants[2];
  std::vector<TDatime> list;
  std::vector<TTimeStamp> stamps;
  TDatime* perhaps = nullptr;
  std::vector<Shift> shifts;
};

// What an RNTuple takes as fields; a TDatime it takes by its streamer alone.
struct Record {
  int id = 0;
  TTimeStamp instant;
  std::vector<TTimeStamp> stamps;
};
