// SPDX-License-Identifier: Apache-2.0
// RNTuples with known values. ntuple write SAMPLE FILE COMPRESSION; ntuple values SAMPLE ANSWER: the values in the
// file, from the functions that fill it; ntuple check SAMPLE FILE ANSWER: the values that ROOT's views read. An answer
// has a line of JSON per field: {"table", "field", "values": [one per entry]} (ntuple_values.h), with "tolerance" if
// readers may differ.
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "ntuple_collection.h"
#include "ntuple_samples.h"

namespace {

const std::map<std::string, const Sample*> kSamples = {
    {"encodings", &encodings::pairs},
    {"bits", &encodings::bits},
    {"types", &types::every},
    {"late", &changes::late},
    {"representations", &changes::representations},
    {"projections", &changes::projections},
    {"attributes", &files::attributes},
    {"soa", &files::soa},
    {"small_keys", &files::small_keys},
    {"parallel", &files::parallel},
    {"merged", &files::merged},
    {"filtered", &files::filtered},
    {"directories", &files::directories},
    {"no_checksums", &files::no_checksums},
    {"empty", &files::empty},
    {"imported", &conversions::imported},
    {"snapshot", &conversions::snapshot},
};

int run(const std::string& what, const Sample& sample, int count, char** arguments) {
  if (what == "write" && count == 5) {
    sample.write(arguments[3], std::atoi(arguments[4]));
    return 0;
  }
  std::ofstream out(arguments[count - 1]);
  for (const Table& table : sample.tables()) {
    if (what == "values" && count == 4)
      put_expected(out, table);
    else if (what == "check" && count == 5)
      put_read(out, table, arguments[3]);
    else
      return 2;
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const auto sample = kSamples.find(count > 2 ? arguments[2] : "");
  if (sample == kSamples.end()) return 2;
  register_bags();
  return run(arguments[1], *sample->second, count, arguments);
}
