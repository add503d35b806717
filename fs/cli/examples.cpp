// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "cli/description.h"

// The examples that end the help of each command, and its part of the manual. A test runs those that need nothing else.
namespace tfilefs {
namespace {

struct Examples {
  std::string_view command, lines;
};

constexpr Examples kExamples[] = {
    {"", R"(tfilefs data.root mnt
tfilefs -o views=listed /data/runs mnt
tfilefs -o chain 'run*.root' mnt
tfilefs umount mnt)"},
    {"umount", R"(tfilefs umount mnt
tfilefs umount --lazy mnt)"},
    {"commit", "tfilefs commit mnt/Events"},
    {"recover", "tfilefs recover data.root"},
    {"ls", R"(tfilefs ls data.root
tfilefs ls data.root/Events
tfilefs ls -1 data.root
tfilefs ls --json -R data.root)"},
    {"info", R"(tfilefs info data.root
tfilefs info --json data.root)"},
    {"cat", R"(tfilefs cat data.root/Events/Muon_pt/values.f4 > pt.f4
tfilefs cat data.root/Events.csv | head)"},
    {"cp", R"(tfilefs cp data.root/Events.parquet .
tfilefs cp -r 'data.root/Events/Muon_*' muons)"},
    {"browse", R"(tfilefs browse data.root
tfilefs browse data.root/Events)"},
    {"serve", R"(tfilefs serve data.root
curl -H "Authorization: Bearer TOKEN" http://127.0.0.1:PORT/Events/Muon_pt/values.f4)"},
    {"map", R"(tfilefs map data.root
tfilefs map --json data.root)"},
    {"check", R"(tfilefs check data.root
tfilefs check -q data.root
tfilefs check --json data.root)"},
    {"stats", R"(tfilefs stats mnt
tfilefs stats -w 2 mnt)"},
    {"classes", "tfilefs classes data.root headers"},
    {"repack", R"(tfilefs repack --format rntuple data.root ntuple.root
tfilefs repack --compression zstd:5 --columns 'Muon_*,run' data.root small.root
tfilefs repack --where 'energy > 100' data.root few.root)"},
    {"draw", R"(tfilefs draw data.root:Events energy
tfilefs draw data.root:Events Muon_pt 'energy > 30' --bins 40 -o pt.svg
tfilefs draw data.root:Events energy:run --json)"},
    {"advise", R"(tfilefs advise data.root
tfilefs advise --json data.root)"},
    {"doctor", R"(tfilefs doctor
tfilefs doctor --json)"},
    {"help", "tfilefs help repack"},
    {"version", "tfilefs version -v"},
    {"completion", "eval \"$(tfilefs completion bash)\""},
};

}  // namespace

std::vector<std::string_view> examples_of(const Command& command) {
  const auto found = std::ranges::find(kExamples, command.name, &Examples::command);
  std::string_view left = found == std::end(kExamples) ? "" : found->lines;
  std::vector<std::string_view> lines;
  while (!left.empty()) {
    lines.push_back(left.substr(0, left.find('\n')));
    left.remove_prefix(std::min(lines.back().size() + 1, left.size()));
  }
  return lines;
}

}  // namespace tfilefs
