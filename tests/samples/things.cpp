// SPDX-License-Identifier: Apache-2.0
// things FILE: objects of the classes of things.h as keys; in `many` they point to each other.
#include "things.h"

#include <TFile.h>
#include <TList.h>

#include <memory>

int main(int, char** arguments) {
  TFile file(arguments[1], "RECREATE");
  std::vector<std::unique_ptr<Thing>> things;
  for (int i = 0; i < 4; ++i) things.push_back(std::make_unique<Thing>(("t" + std::to_string(i)).c_str(), i));
  things[1]->other = things[2].get();
  things[1]->again = things[3].get();
  things[2]->part = &things[2]->parts[1];
  things[3]->again = things[0].get();
  file.WriteObject(things[2].get(), "one");
  TList list;
  for (const auto& thing : things) list.Add(thing.get());
  list.Write("many", TObject::kSingleKey);
  const std::vector<Part> plain(3);
  file.WriteObject(&plain, "plain");
  const std::string string("text");
  file.WriteObject(&string, "string");
}
