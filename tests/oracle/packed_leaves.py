# SPDX-License-Identifier: Apache-2.0
"""Trees of packed numbers (Double32_t, Float16_t), for appends to them. packed_leaves.py make FILE packed|plain FIRST LAST:
the trees "leaves" and "members" with the entries from FIRST up to LAST, packed, or as whole numbers under the same names.
packed_leaves.py compare FILE OTHER: the numbers that ROOT reads of both, one by one."""

import array
import os
import sys

import ROOT

ROOT.gROOT.SetBatch(True)

# Names and dimensions, how they are packed, and the range of their values.
LEAVES = [("d", "/d", (-50, 50)), ("ranged", "/d[0,1000,16]", (0, 1000)), ("bits", "/d[0,0,10]", (-50, 50)), ("full", "/d[-5,5]", (-5, 5)),
          ("pi", "/d[-pi,pi,12]", (-3.1415, 3.1415)), ("f", "/f", (-50, 50)), ("f_ranged", "/f[-1,1,9]", (-1, 1)), ("f_bits", "/f[0,0,8]", (-50, 50)),
          ("grid[2][3]", "/d[0,10,12]", (0, 10)), ("f_grid[3]", "/f", (-9, 9)), ("list[n]", "/d[0,1000,14]", (0, 1000)), ("f_list[n]", "/f[0,8,10]", (0, 8)),
          ("plain_list[n]", "/d", (-50, 50)), ("rows[n][2]", "/d[0,0,7]", (-50, 50))]
MEMBERS = """
  Double32_t d = 0;
  Double32_t ranged = 0;  //[0,1000,16]
  Double32_t bits = 0;    //[0,0,10]
  Float16_t f = 0;
  Float16_t f_ranged = 0;   //[-1,1,9]
  Double32_t grid[2][3];  //[0,10,12]
  Float16_t f_grid[3];
  int number = 0;
"""
COUNTS = {"grid[2][3]": 6, "f_grid[3]": 3, "rows[n][2]": 8}


def number(entry, i, low, high):
    """Both ends of the range are among them."""
    share = (entry * 37 + i * 11) % 101 / 100
    return low + (high - low) * share


def write_leaves(first, last, is_packed):
    tree = ROOT.TTree("leaves", "")
    n = array.array("i", [0])
    tree.Branch("n", n, "n/I")
    kept = []
    for name, packing, bounds in LEAVES:
        code = packing[1]
        values = array.array(code, [0] * COUNTS.get(name, 4))
        tree.Branch(name.split("[")[0], values, name + (packing if is_packed else "/" + code.upper()))
        kept.append((values, bounds))
    pair = array.array("d", [0, 0])
    tree.Branch("pair", pair, "one/d[0,100,16]:two/d[0,0,9]" if is_packed else "one/D:two/D")
    for entry in range(first, last):
        n[0] = entry % 4
        for which, (values, bounds) in enumerate(kept):
            for i in range(len(values)):
                values[i] = number(entry, i + which, *bounds)
        pair[0], pair[1] = number(entry, 1, 0, 100), number(entry, 2, -50, 50)
        tree.Fill()
    tree.Write()


def write_members(first, last, is_packed):
    members = MEMBERS if is_packed else MEMBERS.replace("Double32_t", "double").replace("Float16_t", "float")
    double = "Double32_t" if is_packed else "double"
    ROOT.gInterpreter.Declare(f"""
    struct PackedItem {{ {members} }};
    struct PackedThing {{ {members} std::vector<{double}> list; std::vector<std::vector<{double}>> lists; }};
    void fill(PackedItem& item, int entry) {{
      auto at = [&](int i, double low, double high) {{ return low + (high - low) * ((entry * 37 + i * 11) % 101) / 100; }};
      item.d = at(0, -50, 50);
      item.ranged = at(1, 0, 1000);
      item.bits = at(2, -50, 50);
      item.f = at(3, -50, 50);
      item.f_ranged = at(4, -1, 1);
      for (int i = 0; i < 6; ++i) item.grid[i / 3][i % 3] = at(5 + i, 0, 10);
      for (int i = 0; i < 3; ++i) item.f_grid[i] = at(11 + i, -9, 9);
      item.number = entry;
    }}
    void write_members(int first, int last, TTree& tree, std::vector<PackedItem>& items) {{
      PackedThing thing;
      std::vector<{double}> list;
      std::vector<std::vector<{double}>> lists;
      tree.Branch("thing.", &thing, 32000, 99);
      tree.Branch("list", &list);
      for (int entry = first; entry < last; ++entry) {{
        PackedItem one;
        fill(one, entry);
        static_cast<void>(std::memcpy(static_cast<void*>(&thing), &one, sizeof one));
        list.assign(entry % 3, entry / 7.);
        thing.list = list;
        thing.lists.assign(entry % 2, list);
        items.clear();
        for (int i = 0; i < entry % 4; ++i) {{
          items.emplace_back();
          fill(items.back(), entry + 5 * i);
        }}
        tree.Fill();
      }}
      tree.Write();
    }}
    """)
    tree, items = ROOT.TTree("members", ""), ROOT.std.vector("PackedItem")()
    tree.Branch("items", items, 32000, 99)
    ROOT.write_members(first, last, tree, items)


def make(path, form, first, last):
    file = ROOT.TFile(path, "RECREATE")
    write_leaves(int(first), int(last), form == "packed")
    write_members(int(first), int(last), form == "packed")
    file.Close()


def numbers_of(path, name):
    """[[numbers of a leaf] of an entry], by leaf."""
    file = ROOT.TFile(path)
    tree = file.Get(name)
    found = {}
    for entry in range(tree.GetEntries()):
        tree.GetEntry(entry)
        for leaf in tree.GetListOfLeaves():
            found.setdefault(f"{leaf.GetBranch().GetName()}/{leaf.GetName()}", []).append([leaf.GetValue(i) for i in range(leaf.GetLen())])
    return found


def compare(path, other):
    for name in ("leaves", "members"):
        mine, wanted = numbers_of(path, name), numbers_of(other, name)
        assert mine.keys() == wanted.keys()
        for leaf, numbers in wanted.items():
            differing = [entry for entry, (a, b) in enumerate(zip(mine[leaf], numbers, strict=True)) if a != b]
            assert not differing, (name, leaf, differing[:5], mine[leaf][differing[0]], numbers[differing[0]])
        print(name, len(wanted), "leaves,", sum(len(each) for numbers in wanted.values() for each in numbers), "numbers are the same")


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](*map(os.path.expanduser, sys.argv[2:]))
    sys.stdout.flush()
    os._exit(0)
