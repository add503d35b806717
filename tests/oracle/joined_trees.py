# SPDX-License-Identifier: Apache-2.0
"""joined_trees.py DIRECTORY SIDE [SEED COUNT]: writes SIDE.root (a or b) into a directory for each case below DIRECTORY,
with ROOT. The trees of a case differ in one thing: a leaf's title, type or dimensions, the layout of a class, or the codec.
With a seed: COUNT cases, named by their numbers, that differ in one or two such things at random."""

import array
import os
import random
import sys

import ROOT

ENTRIES = 40

# {case: (leaf of the first, leaf of the second)}; n counts.
LEAVES = {
    "double32 range": ("x/d[0,1000,16]", "x/d[0,5000,16]"),
    "double32 bits": ("x/d[0,1000,16]", "x/d[0,1000,17]"),
    "double32 without a range": ("x/d", "x/d[0,1000,16]"),
    "double32 of fewer bits": ("x/d[0,0,10]", "x/d[0,0,12]"),
    "float16 bits": ("x/f[0,0,10]", "x/f[0,0,14]"),
    "float16 range": ("x/f[0,100]", "x/f[0,1000]"),
    "double32 arrays": ("x[3]/d[0,1000,16]", "x[3]/d[0,2000,16]"),
    "double32 lists": ("x[n]/d[0,1000,16]", "x[n]/d[0,2000,16]"),
    "shapes of as many numbers": ("x[2][3]/I", "x[3][2]/I"),
    "shapes that are one": ("x[6]/I", "x[2][3]/I"),
    "shapes in lists": ("x[n][2][3]/F", "x[n][3][2]/F"),
    "an array and a number": ("x/I", "x[2]/I"),
    "types": ("x/I", "x/F"),
    "types of one size": ("x/I", "x/i"),
    "types of 8 bytes": ("x/L", "x/D"),
    "double and double32": ("x/D", "x/d"),
    "a list and an array": ("x[n]/I", "x[2]/I"),
    "other names": ("x/I:y/I", "x/I:z/I"),
    "another order": ("x/I:y/I", "y/I:x/I"),
    "nothing": ("x/d[0,1000,16]", "x/d[0,1000,16]"),
    "a text": ("x/C", "x/C"),
}
CODES = {"I": "i", "i": "I", "F": "f", "f": "f", "D": "d", "d": "d", "L": "q", "l": "Q", "C": "b", "B": "b", "b": "B", "S": "h",
         "s": "H", "O": "B"}
SHAPES = ("", "[1]", "[2]", "[3]", "[6]", "[2][3]", "[3][2]", "[n]", "[n][2]", "[n][3]", "[n][2][3]")
PACKED = ("", "[0,1000,16]", "[0,5000,16]", "[0,1000,17]", "[-10,1000,20]", "[0,0,10]", "[0,0,14]", "[0,1000]")
NAMES = ("x", "x:y", "y:x", "x:y:z", "z:x")
COMPRESSIONS = (0, 101, 109, 207, 404, 505)

MODULI = {"B": 100, "b": 200, "C": 100, "O": 2}  # of values that fit

# {case: (members of a class in the first, in the second)}; its version is the same.
LAYOUTS = {
    "members in another order": ("Float_t a = 0; Int_t b = 0;", "Int_t b = 0; Float_t a = 0;"),
    "members of another type": ("Float_t a = 0; Int_t b = 0;", "Double_t a = 0; Int_t b = 0;"),
    "one member less": ("Float_t a = 0; Int_t b = 0;", "Float_t a = 0;"),
    "the same members": ("Float_t a = 0; Int_t b = 0;", "Float_t a = 0; Int_t b = 0;"),
}
CODECS = {"codec": (101, 505), "no codec": (0, 207)}


def random_leaf(chance):
    """What a leaf list is made of: its names, their shape and type, and what ROOT packs numbers by."""
    kind = chance.choice("dfdfBbSsIiLlFDO")
    return {"names": chance.choice(NAMES), "shape": chance.choice(SHAPES), "kind": kind, "packed": chance.choice(PACKED),
            "compression": chance.choice(COMPRESSIONS), "entries": chance.choice((1, 7, ENTRIES)),
            "basket": chance.choice((200, 1000, 32000))}


def random_pair(seed, number):
    chance = random.Random(f"{seed} {number}")
    first = random_leaf(chance)
    changed = random_leaf(chance)
    differs = chance.sample(sorted(first), chance.randint(0, 2))
    return first, {part: (changed if part in differs else first)[part] for part in first}


def leaf_list(leaf):
    names = leaf["names"].split(":")
    if len(names) > 1 and "[" in leaf["shape"]:
        names = names[:1]  # ROOT lays out arrays of several leaves by their largest number
    packed = leaf["packed"] if leaf["kind"] in "df" else ""
    return ":".join(f"{name}{leaf['shape']}/{leaf['kind']}{packed}" for name in names)


def numbers_of(leaf):
    """How many items a leaf has at most."""
    count = 1
    for part in leaf.split("/")[0].split("[")[1:]:
        count *= 3 if part[:-1] == "n" else int(part[:-1])
    return count


def write_leaves(path, leaves, side, compression=101, entries=ENTRIES, basket=32000):
    file = ROOT.TFile(path, "RECREATE", "", compression)
    tree = ROOT.TTree("T", "")
    n = array.array("i", [0])
    tree.Branch("n", n, "n/I")
    names = leaves.split(":")
    code = CODES[names[0].split("/")[1][0]]
    x = array.array(code, [0] * max(8, len(names) * numbers_of(names[0])))
    tree.Branch("x", x, leaves, basket)
    for entry in range(entries):
        n[0] = entry % 4
        if leaves == "x/C":
            text = f"{side}{entry}".encode()
            x[:len(text) + 1] = array.array("b", text + b"\0")
        else:
            for i in range(len(x)):
                value = (entry * 7 + i * 3 + (500 if side == "b" else 0)) % 1000
                x[i] = value / 8 if code in "fd" else value % MODULI.get(names[0].split("/")[1][0], 1000)
        tree.Fill()
    tree.Write()
    file.Close()


def write_classes(path, case, side):
    """Objects on their own, in other objects, in a TClonesArray, and behind a pointer; whole and split."""
    members = LAYOUTS[case][side == "b"]
    space = "S" + "".join(word[0] for word in case.split())
    ROOT.gInterpreter.Declare(f"""
    namespace {space} {{
    class Inner : public TObject {{ public: {members} ClassDefInline(Inner, 2) }};
    class Outer : public TObject {{ public: Inner inner; Int_t z = 0; ClassDefInline(Outer, 1) }};
    class Pointing : public TObject {{ public: TObject* any = nullptr; Int_t z = 0; ClassDefInline(Pointing, 1) }};
    void write(const char* path, int first) {{
      TFile file(path, "RECREATE");
      for (int split : {{0, 99}}) {{
        TTree tree(split ? "split" : "whole", "");
        TClonesArray* many = new TClonesArray("{space}::Inner");
        Outer* outer = new Outer;
        Pointing* pointing = new Pointing;
        Inner* one = new Inner;
        pointing->any = one;
        tree.Branch("one", &one, 32000, split);
        tree.Branch("outer", &outer, 32000, split);
        tree.Branch("many", &many, 32000, split);
        tree.Branch("pointing", &pointing, 32000, split);
        for (int i = 0; i < {ENTRIES}; ++i) {{
          one->a = first + i;
          {"one->b = -first - i;" if " b = " in members else ""}
          outer->inner = *one;
          outer->z = pointing->z = i;
          many->Clear();
          for (int k = 0; k < i % 3; ++k) *static_cast<Inner*>(many->ConstructedAt(k)) = *one;
          tree.Fill();
        }}
        tree.Write();
      }}
    }}
    }}""")
    getattr(ROOT, space).write(path, 1000 if side == "b" else 0)


def main(directory, side):
    for case, leaves in LEAVES.items():
        os.makedirs(os.path.join(directory, case), exist_ok=True)
        write_leaves(os.path.join(directory, case, f"{side}.root"), leaves[side == "b"], side)
    for case, codecs in CODECS.items():
        os.makedirs(os.path.join(directory, case), exist_ok=True)
        write_leaves(os.path.join(directory, case, f"{side}.root"), "x[n]/I", side, codecs[side == "b"])
    for case in LAYOUTS:
        os.makedirs(os.path.join(directory, case), exist_ok=True)
        write_classes(os.path.join(directory, case, f"{side}.root"), case, side)


def write_random(directory, side, seed, count):
    for number in range(count):
        os.makedirs(os.path.join(directory, str(number)), exist_ok=True)
        leaf = random_pair(seed, number)[side == "b"]
        with open(os.path.join(directory, str(number), f"{side}.txt"), "w") as file:
            print(leaf_list(leaf), leaf, file=file)
        write_leaves(os.path.join(directory, str(number), f"{side}.root"), leaf_list(leaf), side, leaf["compression"],
                     leaf["entries"], leaf["basket"])


if __name__ == "__main__":
    if len(sys.argv) > 3:
        write_random(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main(sys.argv[1], sys.argv[2])
