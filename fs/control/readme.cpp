// SPDX-License-Identifier: Apache-2.0
#include "control/readme.h"

namespace tfilefs {
namespace {

constexpr char kText[] = R"(tfilefs )" TFILEFS_VERSION R"(: a ROOT file as a directory.

What a listing shows
  TREE/COLUMN.TYPE          raw numbers, little-endian, no header: np.fromfile, np.memmap, od -t f4
                            TYPE: b1 i1 u1 i2 u2 i4 u4 i8 u8 f4 f8, with a shape as in pos.f4x3
  TREE/LIST/offsets.i8      where each list begins in values, and the end: one more than there are lists
  TREE/STRING/chars.u1      the same for strings
  OBJECT/object.bin         the uncompressed bytes of any other key
  OBJECT/object.json        its members, as ROOT's own JSON
  OBJECT/object.streamerinfo  the descriptions of its classes, where a copy needs them
  HISTOGRAM/values.TYPE     arrays: values, variances, xedges, ..., and flow/ with underflow and overflow; GRAPH/x, y, ...

What is there but not listed: it opens by name, but `ls *.parquet`, completion by TAB and file
dialogs do not find it. Mounted with -o views=listed, listings show it all.
  TREE/COLUMN               the column without naming its type; ROOT's own branch names are found as well
  TREE/COLUMN.npy           the column as a NumPy file
  TREE/NODE.txt             a line per entry
  TREE/COLUMN.stats.json    statistics of a column of numbers, and COLUMN.svg a picture: also with views=listed not listed
  TREE/COLUMN.baskets.json  where the baskets of a column lie in the file
  TREE/index.html           a page with all columns and their pictures
  TREE/.where=EXPR          the entries that an expression chooses, as a table ('/' is %2F): .where=nMuon>1.parquet
  TREE/.draw=EXPR;CUT;BINS  a histogram of an expression, as one that is stored
  TREE.arrow                the whole tree as an Arrow file; mapped, nothing is copied
  TREE.parquet              the same for SQL: DuckDB, polars, pandas, Spark
  TREE.csv, TREE.jsonl      the same as text; TREE.json as one array, TREE.feather is TREE.arrow
  TREE/COLUMN.csv           one column alone, and COLUMN.parquet
  TREE/.awkward.json        its form for awkward.from_buffers over the column files
  TREE/.schema.json         all columns of a tree: type, shape, lists, branch, length; also as schema.json
  TREE/NODE/.option.npy     of values that may be missing, and of unions: the index that awkward takes for them
  TREE/.friends/ALIAS       a friend of a tree, as a table; its columns are found as TREE/ALIAS.COLUMN as well
  TREE/.attributes/NAME     an attribute set of an RNTuple, as a table
  OBJECT/plot.svg           a drawing, and table.csv its numbers: histograms, profiles, graphs, efficiencies, functions
  OBJECT/plot.logy.svg      the same with logarithmic axes: x, y, z or several, as in plot.logxy.svg
  DIR/index.html            a page with all plots below a directory
  DIR/.keys.json            all keys below a directory, with their classes
  OBJECT.svg, OBJECT.csv    the same beside the object, and OBJECT.json
  OBJECT/text.txt           the text of a TObjString, TNamed, TParameter, TMacro, string
  NAME;N                    cycle N of a key
  .header.json              the file's header               \
  .map.txt                  every record of the file        |
  .streamerinfo.json        its classes, member by member   |
  .classes/CLASS.h          a C++ header for each of them   } in the directory of each ROOT file
  .original                 the file itself, byte for byte  /
  .files/NUMBER-NAME        of a chain of files: each file as it is
  .chain.json               of a chain: its files, their first entries, and what differs between them
  .dataset.json             of a sample of a dataset: what its description says of it

Here, in .tfilefs at the root of the mount
  README                    this text; also as README at the root of a mount that is only read
  config.json               the options in force
  stats.json                reading, cache and memory in numbers, for each table and branch
  metrics                   the same for Prometheus
  reads.json                the last reads of files: where, when, how long, of which entries
  pending.json              what was written and is not committed, and why
  errors                    what went wrong lately, one line each, with path and reason

Writing (mount with -o rw)
  mkdir NEW.root/TREE       then cp columns into it; whole trees are committed after some seconds of quiet, by
                            tfilefs commit PATH, by fsync of the directory, and by tfilefs umount
  TREE/.pending.json        what is staged and not committed, and why

Extended attributes of columns (getfattr -d): user.tfilefs.name .branch .dtype .shape .length .title .class .compression
not listed: .type .stored; of trees .entries
)";

}  // namespace

std::string readme_text() { return kText; }

}  // namespace tfilefs
