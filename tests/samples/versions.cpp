// SPDX-License-Identifier: Apache-2.0
// versions write FILE: entries of this program's version of the classes, unsplit, with collections object by object.
// versions dump FILE ANSWER: every entry of FILE as ROOT reads it into these classes, as a Python literal.
#include "versions.h"

#include <TFile.h>
#include <TTree.h>
#include <TVirtualStreamerInfo.h>

#include <fstream>

#include "python_literal.h"

namespace {

void roll(Part& part, int i) {
  part.a = 10 * PART_VERSION + i;
  part.same = 7 + i;
  part.corner.x = 100 - i;
  part.list.assign(std::size_t(i), i);
#if PART_VERSION == 1
  part.gone = {{1.f, 2.f}, {}};
#else
  part.more = i + 0.5;
  part.corner.added = i + 0.25;
  part.text = "text " + std::to_string(i);
#endif
}

void write(const char* name) {
  TVirtualStreamerInfo::SetStreamMemberWise(false);
  TFile file(name, "RECREATE");
  TTree tree("t", "objects of one version");
  Whole whole, *pointer = &whole;
  tree.Branch("whole", &pointer, 32000, 0);
  for (int i = 0; i < 6; i++) {
    whole.n = i;
    roll(whole.part, i);
    whole.parts.resize(std::size_t(i % 3));
    for (Part& part : whole.parts) roll(part, i + 20);
    tree.Fill();
  }
  tree.Write();
}

#if PART_VERSION == 2
void put(std::ostream& out, const Part& part) {
  out << "{'same':" << part.same << ",'a':" << part.a << ",'list':";
  literal::put(out, part.list);
  out << ",'corner':{'added':";
  literal::put(out, part.corner.added);
  out << ",'x':" << part.corner.x << "},'more':";
  literal::put(out, part.more);
  out << ",'text':";
  literal::put(out, part.text);
  out << "}";
}

void dump(const char* name, const char* answer) {
  TFile file(name);
  TTree& tree = *file.Get<TTree>("t");
  std::ofstream out(answer);
  Whole* whole = new Whole;
  tree.SetBranchAddress("whole", &whole);
  out << "[";
  for (Long64_t i = 0; i < tree.GetEntries(); i++) {
    *whole = Whole();  // else members that were not written would keep the values of the previous entry
    tree.GetEntry(i);
    out << "{'n':" << whole->n << ",'part':";
    put(out, whole->part);
    out << ",'parts':[";
    for (const Part& part : whole->parts) {
      put(out, part);
      out << ",";
    }
    out << "]},\n";
  }
  out << "]";
}
#endif

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  if (what == "write" && count == 3) {
    write(arguments[2]);
#if PART_VERSION == 2
  } else if (what == "dump" && count == 4) {
    dump(arguments[2], arguments[3]);
#endif
  } else {
    return 2;
  }
  return 0;
}
