// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "cli/description.h"
#include "letter_case.h"
#include "word_distance.h"

namespace tfilefs {
namespace {

constexpr Flag kMountOptions = {"-o", "OPT,...", ValueHint::mount_options, "options, see tfilefs --help"};
constexpr Flag kAsJson = {"--json", "", ValueHint::nothing, "print JSON"};
constexpr Argument kFile = {"SOURCE", ValueHint::file,
                            "a ROOT file, its URL, or a pattern of several, such as 'run*.root'"};
constexpr Argument kMountPoint = {"MNT", ValueHint::mount_point, "the mount point"};

constexpr auto kMountFlags = std::to_array<Flag>({
    {"-o", "OPT,...", ValueHint::mount_options, "options, see below"},
    {"-f", "", ValueHint::nothing, "stay in the foreground"},
    {"-d", "", ValueHint::nothing, "trace every request on stderr; implies -f"},
    {"-q,--quiet", "", ValueHint::nothing, "say nothing when the mount is there"},
    {"-v,--verbose", "", ValueHint::nothing,
     "print the options when the mount is there; with --version also libraries, codecs and CPU features"},
    {"-V,--version", "", ValueHint::nothing, "print the version and exit"},
});
constexpr auto kMountArguments = std::to_array<Argument>({
    {"SOURCE... MNT", ValueHint::file,
     "a ROOT file, a directory, or the URL of one, or of several by a pattern; with -o chain any number.\n"
     "MNT is a directory; or /dev/fd/N, a descriptor of /dev/fuse that is already mounted",
     2},
});
constexpr auto kUmountFlags = std::to_array<Flag>({
    {"-z,--lazy", "", ValueHint::nothing, "even if in use, and without waiting: programs that have it open keep it"},
    {"--discard", "", ValueHint::nothing, "drop what is not committed yet, in all files of the mount"},
});
constexpr auto kMountPointOnly = std::to_array<Argument>({kMountPoint});
constexpr auto kInMount = std::to_array<Argument>({
    {"MNT/PATH", ValueHint::in_mount, "a table or something in it, a ROOT file, or a directory of them"},
});
constexpr auto kRecovered =
    std::to_array<Argument>({{"FILE", ValueHint::file, "the ROOT file, which need not exist yet"}});
constexpr auto kLsFlags = std::to_array<Flag>({
    {"-1", "", ValueHint::nothing, "names alone, one in a line"},
    {"-l", "", ValueHint::nothing, "names with modes, owners, sizes and dates"},
    {"-R", "", ValueHint::nothing, "also what is in tables and subdirectories"},
    {"--json", "", ValueHint::nothing,
     "a list of objects: path, type, size, stored, class, title, entries, dtype, shape, and more"},
    kMountOptions,
});
constexpr auto kInside = std::to_array<Argument>({
    {"SOURCE[/PATH]", ValueHint::inside,
     "a ROOT file or directory, its URL, or a pattern of several; and a path inside the file"},
});
constexpr auto kInsideSeveral = std::to_array<Argument>({
    {"SOURCE[/PATH]...", ValueHint::inside,
     "ROOT files or directories, their URLs, or patterns of several; and a path inside each file", 1},
});
constexpr auto kCatFlags = std::to_array<Flag>({kMountOptions});
constexpr auto kInsideFiles = std::to_array<Argument>({
    {"SOURCE/PATH...", ValueHint::inside,
     "files of a source, as a mount shows them; SOURCE and PATH may be patterns of several", 1},
});
constexpr auto kCpFlags = std::to_array<Flag>({
    {"-r,--recursive", "", ValueHint::nothing, "copy directories with all that is listed below them"},
    {"-q,--quiet", "", ValueHint::nothing, "show no progress"},
    {"-v,--verbose", "", ValueHint::nothing, "name each file that is copied, or is there unchanged"},
    kMountOptions,
});
constexpr auto kInsideAndPlace = std::to_array<Argument>({
    {"SOURCE/PATH... DEST", ValueHint::inside,
     "files and directories of a source, as a mount shows them; SOURCE and PATH may be patterns of\n"
     "several. DEST is the directory to copy them into, or the new name of a single one",
     2},
});
constexpr auto kServeFlags = std::to_array<Flag>({
    {"--listen", "WHERE", ValueHint::text,
     "ADDR:PORT, where port 0 is a free one; unix:PATH; or systemd, for the socket it hands over (127.0.0.1:0)"},
    {"--host", "NAME", ValueHint::text, "a name that clients have for this server; may be given several times"},
    {"--token-file", "FILE", ValueHint::file, "the token is the first line of FILE, in place of a random one"},
    {"--timeout", "TIME", ValueHint::text, "end connections that send no whole request for so long (30)"},
    {"--linger", "TIME", ValueHint::text,
     "with -o lifeline=, wait so long before the end for a named pipe to be opened again (0)"},
    kMountOptions,
});
constexpr auto kBrowseFlags = std::to_array<Flag>({
    {"--listen", "WHERE", ValueHint::text, "ADDR:PORT, where port 0 is a free one (127.0.0.1:0)"},
    {"-n,--print", "", ValueHint::nothing, "open no browser: only print the URL"},
    kMountOptions,
});
constexpr auto kBrowsed = std::to_array<Argument>({
    {"SOURCE[/PATH]...", ValueHint::inside,
     "a ROOT file or directory, its URL, or a pattern; and a path inside. Several files are looked at as one", 1},
});
constexpr auto kServed = std::to_array<Argument>({
    {"SOURCE...", ValueHint::file,
     "what a mount takes: a ROOT file, a directory, or the URL of one; with -o chain any number", 1},
});
constexpr auto kFilesFlags = std::to_array<Flag>({kAsJson});
constexpr auto kFiles = std::to_array<Argument>({
    {"SOURCE...", ValueHint::file,
     "ROOT files, their URLs, patterns of several such as 'run*.root', or directories with ROOT files in them", 1},
});
constexpr auto kCheckFlags = std::to_array<Flag>({
    {"-q,--quiet", "", ValueHint::nothing, "no progress, and no line for files without errors"},
    {"-v,--verbose", "", ValueHint::nothing, "also a line for each table"},
    kAsJson,
});
constexpr auto kStatsFlags = std::to_array<Flag>({
    {"-b,--branches", "", ValueHint::nothing, "also a line for each branch"},
    {"-w,--watch", "TIME", ValueHint::text, "repeat: print the differences each time this has passed"},
    {"--json", "", ValueHint::nothing, "print all numbers, as .tfilefs/stats.json has them"},
});
constexpr auto kFileAndDirectory = std::to_array<Argument>({
    kFile,
    {"DIR", ValueHint::directory, "where to write them; created if missing"},
});
constexpr auto kRepackFlags = std::to_array<Flag>({
    {"--format", "FORMAT", ValueHint::text, "ttree, rntuple, or keep: the format of each table (keep)"},
    {"--compression", "ALG[:LEVEL]", ValueHint::text, "zstd, zlib, lz4, lzma or none; by default unchanged"},
    {"--cluster", "SIZE", ValueHint::text,
     "new clusters of about this compressed size, such as 30M; by default unchanged"},
    {"--columns", "GLOB,...", ValueHint::text, "only these branches or fields, such as 'Muon_*,nMuon'"},
    {"--drop", "GLOB,...", ValueHint::text, "exclude these"},
    {"--friend", "ALIAS=SOURCE", ValueHint::text,
     "also the columns of this table, as ALIAS_NAME; may be given several times"},
    {"--entries", "A:B", ValueHint::text, "only entries from A up to, but not including, B of each table"},
    {"--select", "WHICH", ValueHint::file,
     "only entries that a mask chooses: a NumPy file, FILE.b1, an index FILE.i8, or a column of the table"},
    {"--where", "EXPR", ValueHint::text, "only entries of which any iteration of this is not 0, as in TTree::CopyTree"},
    {"--define", "NAME=EXPR", ValueHint::text, "a name for an expression, for --where; may be given several times"},
    {"--tables", "GLOB,...", ValueHint::text, "only these tables"},
    {"--rename", "OLD=NEW", ValueHint::text, "rename a table; may be given several times"},
    {"--split", "SIZE", ValueHint::text,
     "files of about this size, such as 2G: OUT-0000.root, OUT-0001.root and so on"},
    {"-j", "THREADS", ValueHint::text, "threads that encode and decode (all cores)"},
    {"--memory", "SIZE", ValueHint::text,
     "limit for buffers (256M, or a quarter of the memory if that is less; at least 64M)"},
    {"--force", "", ValueHint::nothing, "replace OUT if it exists"},
    {"-n,--dry-run", "", ValueHint::nothing, "write nothing: print what would be written, and its estimated size"},
    {"--no-add", "", ValueHint::nothing, "do not add histograms of several files: take the first one"},
    {"--verify", "", ValueHint::nothing, "read OUT back and compare it with IN before it gets its name"},
    {"--keep-raw", "", ValueHint::nothing,
     "to RNTuple: keep what is shown as raw as the streamers of its classes wrote it"},
    {"--skip-damaged", "", ValueHint::nothing, "leave out damaged clusters, and print which entries are lost"},
    kAsJson,
    {"-q,--quiet", "", ValueHint::nothing, "no progress, and no lines about what was written"},
    {"-v,--verbose", "", ValueHint::nothing, "also a line for each object that is no table"},
});
constexpr auto kRepackArguments = std::to_array<Argument>({
    {"IN... OUT", ValueHint::file,
     "ROOT files, URLs, patterns, lists and datasets, as -o chain takes them; then the file to write", 2},
});
constexpr auto kDrawFlags = std::to_array<Flag>({
    {"--bins", "N[,N]", ValueHint::text, "bins of each axis, x first (100; 40,40; 20,20,20)"},
    {"--range", "LO:HI[,LO:HI]", ValueHint::text, "limits of each axis, x first; by default as TTree::Draw finds them"},
    {"--log", "", ValueHint::nothing, "a logarithmic scale of the contents"},
    {"--profile", "", ValueHint::nothing, "the mean of the first expression for each bin of the others"},
    {"--weights", "EXPR", ValueHint::text, "the weight of each value"},
    {"--define", "NAME=EXPR", ValueHint::text, "a name for an expression; may be given several times"},
    {"-o", "FILE", ValueHint::file, "write a picture (.svg), a table (.csv), or the histogram (.json, .root)"},
    {"--json", "", ValueHint::nothing, "print the histogram as ROOT's JSON"},
    {"-j", "THREADS", ValueHint::text, "threads that decode and evaluate (all cores)"},
    {"--memory", "SIZE", ValueHint::text,
     "limit for buffers (256M, or a quarter of the memory if that is less; at least 64M)"},
    {"-q,--quiet", "", ValueHint::nothing, "show no progress"},
});
constexpr auto kDrawArguments = std::to_array<Argument>({
    {"SOURCE:TABLE", ValueHint::inside,
     "a ROOT file, its URL, or a pattern of several, and the path of a table in it; or SOURCE/TABLE"},
    {"EXPR[:EXPR[:EXPR]]", ValueHint::text, "what is drawn, as TTree::Draw takes it: x, y:x or z:y:x"},
    {"[CUT]", ValueHint::text, "only where this is not 0; its value is a weight"},
});
constexpr auto kHelpedCommand =
    std::to_array<Argument>({{"[COMMAND]", ValueHint::command, "a command; without one, the help of all"}});
constexpr auto kVersionFlags =
    std::to_array<Flag>({{"-v", "", ValueHint::nothing, "also libraries, codecs and CPU features"}});
constexpr auto kShell = std::to_array<Argument>({{"SHELL", ValueHint::shell, "bash, zsh or fish"}});

constexpr std::string_view kExitCodes =
    "Exit codes: 0 success; 1 failure, reported on stderr, also if umount, commit or recover leave something\n"
    "uncommitted; 2 wrong usage. Of check they are fsck's: 0 no errors; 4 errors or warnings; 8 not all was checked;\n"
    "16 wrong usage; or the sum.";
constexpr std::string_view kExitCodesOfCheck =
    "Exit codes: 0 no errors; 4 errors or warnings; 8 the file, or a part of it, was not checked; 16 wrong usage;\n"
    "or the sum of these, as of fsck.";

constexpr auto kCommands = std::to_array<Command>({
    {"", "mount a ROOT file, or a directory with ROOT files in it, as a file system", "", kMountFlags, kMountArguments,
     run_mount, kExitFailure, kExitCodes},
    {"umount", "commit, unmount, and wait until the daemon is gone",
     R"(On a terminal it shows its progress. What could not be committed is named, and the status is 1. If the mount is in use, it stays and the command
fails. The mount also stays if bytes are neither in their file nor in its journal: the disk is full, or a program is just
writing them. The files are then named, and the processes that write them.
If the daemon was killed, the files beside which it left a journal are named, and the status is 1.
The daemon stays as long as another mount namespace (a container) has the mount, too. After a second, a line for each such
namespace names a process in it and says how to release the mount. Ctrl-C ends only the waiting.
.IP
With
.B \-\-lazy
the mount point is free at once and the command waits for nothing. Processes that use the mount keep it until they are done
with it. What could not be saved is lost, and is named.
.IP
With
.B \-\-discard
what is not committed is dropped, with its journals: the files stay as the last commits left them, and a file without one is
not made. It is refused if a part of it was taken over from a mount that was killed.)",
     kUmountFlags, kMountPointOnly, run_umount},
    {"commit",
     "commit the complete tables below a directory of a mount, now",
     R"(Commits the tables below a directory that are complete, without waiting until writing has ceased.
Incomplete tables are named, and the status is then 1.)",
     {},
     kInMount,
     run_commit},
    {"recover",
     "commit what a crashed mount left in the journal of a file",
     R"(Writes to a ROOT file what a crashed mount had promised to keep and left in the journal beside the file. The next
mount with rw does the same. If there is neither the file nor a journal beside it, the command fails.)",
     {},
     kRecovered,
     run_recover},
    {"ls", "list what a mount would show, without mounting",
     R"(Prints a tree of directories, tables and objects, in columns: name; class, or type of a column; entries; bytes in the
file; title. Of a table the path shows its columns.
.IP
As for info, map, check, advise and classes, SOURCE may be a pattern (*, ?, [ab], {a,b}), for files of this machine and in the
path of a URL. Then each file that matches is taken, in the order of their names.)",
     kLsFlags, kInsideSeveral, run_ls},
    {"info", "show on one screen what is in a ROOT file",
     R"(Prints the version of ROOT that wrote it, the codecs, the tables with their entries, how many objects of each class there
are, and what may be typed next.)",
     kFilesFlags, kFiles, run_info},
    {"cat", "write what a mounted file would hold to standard output, without mounting",
     R"(A column is raw numbers; tables are text, Arrow or Parquet, as the names of views say.
.IP
PATH may be a pattern, as SOURCE may be. A backslash takes the meaning from the character behind it.)",
     kCatFlags, kInsideFiles, run_cat},
    {"cp", "copy files and directories out of a source, without mounting",
     R"(A file appears under its name when it is whole and on disk, with the time of its source. Until then it is
\&.NAME.*.part next to it. If the command is interrupted, the same command continues there, unless size or times of the source
have changed, or the machine was restarted. Copies that are there already, by their extended attribute user.tfilefs.copy_of, are
passed over.
.IP
From several sources, each goes into a directory of its name below DEST. On a terminal the progress is shown.)",
     kCpFlags, kInsideAndPlace, run_cp},
    {"browse", "look at ROOT files in a web browser: columns, rows, histograms, plots",
     R"(Serves as
.B serve
does, on this machine alone, and opens a page in the browser of the desktop; without one it prints the URL. Over ssh it
prints the line for a tunnel. The page has the tree of directories, tables and columns; of a table its rows; of a column its
histogram, or its most frequent strings; of an object its plot; and lines to copy. It serves until it is interrupted.
.IP
Several files, also those of a pattern, are looked at as one, as with
.BR "\-o chain" .)",
     kBrowseFlags, kBrowsed, run_browse},
    {"serve", "serve what a mount would show by HTTP, to who has the token",
     R"(Prints a URL with a token, and serves until it is interrupted: files with ranges, listings as HTML and JSON, WebDAV for
reading. Nothing is mounted, and nothing can be written.
.IP
Who has the token reads what the user of the server may read. It is given as ?token= (a browser then keeps it in a
cookie), as a bearer token, or as the password of any user. Requests must name the server by an address, as localhost, or by a
.B \-\-host
name. A socket of
.B unix:
can be used by its owner alone. The page docs/serve.md has more.)",
     kServeFlags, kServed, run_serve},
    {"map", "print every record of a ROOT file",
     R"(Prints every record of the file with its address, size, class and compression factor, and the gaps, as ROOT's
TFile::Map does.)",
     kFilesFlags, kFiles, run_map},
    {"check", "verify every record, compression block and checksum of a ROOT file, and decode every table",
     R"(Header, directories and keys are verified, too. Prints a line for each finding and a summary. An error means that
something cannot be read, a warning that programs may read the file, or write to it, in different ways, and a note that it is
unusual, but that nothing is lost. Of bytes that are
stored without a checksum (uncompressed, and zstd as ROOT writes it) only the sizes are checked. The status is that of
.BR fsck (8):
0 for no errors, notes at most, 4 for errors or warnings, 8 if the file or a part of it could not be checked (RNTuples of a format before 1.0 are not
decoded), 16 for wrong usage, or the sum of these.
.IP
Of a directory, all ROOT files in it and below are checked: those that begin as one, and those whose names end in .root. Of
several files the last line is a summary. On a terminal the progress is shown.)",
     kCheckFlags, kFiles, run_check, kCheckIncomplete, kExitCodesOfCheck},
    {"stats", "show what a mount has read, decoded and kept, table by table",
     R"(Suffixes of bytes are powers of 1024, those of other numbers powers of 1000. With
.B \-w
it goes on until it is interrupted or the mount ends (status 1). It prints first the sums since the start, then what was
added, as a rate for each second. The columns are: bytes that readers asked for; reads answered at once, and reads that
waited; bytes, calls, and bytes for each call of reading the file; bytes read for nothing; decoded bytes; seconds of
reading, of decoding (CPU) and of readers waiting; chunks loaded ahead, chunks loaded ahead that were evicted unused, and
chunks evicted.)",
     kStatsFlags, kMountPointOnly, run_stats},
    {"classes",
     "write a C++ header for each class that a ROOT file describes",
     R"(Writes to DIR what ROOT's TFile::MakeProject does. The headers can be compiled together. If several files
describe a class in different ways, the first one counts, and the status is 1. ROOT's own classes are included from ROOT. Headers of the same name are replaced. A symbolic link, or anything else that is not a plain file,
under such a name is an error.)",
     {},
     kFileAndDirectory,
     run_classes},
    {"repack", "rewrite ROOT files: as RNTuple, with another codec, fewer columns or entries, or merged",
     R"(Reads IN once, from front to back, and writes OUT once. Several IN become one file: tables of the same path are joined,
in the order of the files. Objects and directories are those of the first.
.IP
A table that keeps its format is copied basket by basket, or page by page: so every type goes along, whether it can be
decoded or not. Only what a selection, new clusters or another codec needs is cut or compressed anew. With another
format, and where an RNTuple is cut, columns are read and written. What cannot be written then is named on stderr and
left out, and the status is 1.
.IP
Baskets lie in the order of clusters. An index of a tree, and its friends, go if entries are left out or joined, for they
would be wrong. Without
.B \-\-compression
the codec stays; tables that change their format get zstd:5.
.IP
OUT appears under its name when it is whole and on disk. If the command fails, is interrupted, or the disk is full, there
is none. It must not exist, unless
.B \-\-force
is given, and must not be one of IN. Damage ends the command with the branch, the entries and the place.
.IP
Patterns have *, ?, [ab] and {a,b}. Those of
.B \-\-columns
and
.B \-\-drop
are compared with top-level branches and fields. A branch that counts the items of others stays with them.)",
     kRepackFlags, kRepackArguments, run_repack},
    {"draw",
     "draw a histogram of expressions of a table, as TTree::Draw does",
     R"(Prints the histogram on the terminal, with its statistics, or writes it to a file. Expressions and cuts are those of
TTree::Draw: names of branches, leaves and columns, numbers, C++'s operators, functions of C and TMath,
.BR Sum$ (),
.BR Length$ ()
and the like. Lists are gone through item by item. The page docs/expressions.md describes the language.
.IP
Without
.B \-\-range
the axes are those that TTree::Draw finds: round limits around the first million values, doubled where others lie beyond.
.IP
An error in an expression is shown with the place, and with the name that is most like the one that was not found.
.IP
A file of the name that
.B \-o
gives is replaced; a ROOT file is not.)",
     kDrawFlags,
     kDrawArguments,
     run_draw,
     1,
     {},
     true,
     "what options of TTree::Draw do, --bins, --range, --profile and -o FILE do here"},
    {"advise", "report how tables are laid out in a ROOT file, and what repacking would gain",
     R"(Prints some ten lines for each table: clusters; baskets or pages, how many of them a branch has in a cluster, and how
large they are; how often a reader of all branches, and of five, goes back in the file; the codec; the share of keys; the
size as RNTuple, estimated from samples; and the command to run. It reads the descriptions of tables, and samples.)",
     kFilesFlags, kFiles, run_advise},
    {"doctor",
     "check whether this machine can mount, and what to do if it cannot",
     R"(Looks at the kernel, /dev/fuse, fusermount3, /etc/fuse.conf, read-ahead and limits. Then it makes a tiny ROOT file,
mounts it, reads it and unmounts it. Prints a line for each: good; or note, where something works less well than it
could; or bad, with what to do. The status is 1 if a line is bad.)",
     kFilesFlags,
     {},
     run_doctor},
    {"help", "show the help of a command", "The same as COMMAND \\-\\-help.", {}, kHelpedCommand, run_help},
    {"version", "print the version", "The same as \\-\\-version.", kVersionFlags, {}, run_version},
    {"completion",
     "print the completion script for bash, zsh or fish",
     "For where none was installed: eval \"$(tfilefs completion bash)\".",
     {},
     kShell,
     run_completion},
    {"complete",
     "answer a completion: what may stand in the place of the last word",
     "",
     {},
     {},
     run_complete,
     kExitFailure,
     "",
     false},
});

// Words that other programs have for these commands.
struct OtherWord {
  std::string_view word, command;
};
constexpr OtherWord kOtherWords[] = {
    {"list", "ls"},         {"dir", "ls"},         {"tree", "ls"},      {"show", "ls"},      {"export", "cp"},
    {"extract", "cp"},      {"copy", "cp"},        {"get", "cp"},       {"dump", "cat"},     {"print", "cat"},
    {"convert", "repack"},  {"merge", "repack"},   {"hadd", "repack"},  {"slim", "repack"},  {"skim", "repack"},
    {"compress", "repack"}, {"unmount", "umount"}, {"plot", "draw"},    {"hist", "draw"},    {"open", "browse"},
    {"view", "browse"},     {"gui", "browse"},     {"http", "serve"},   {"fsck", "check"},   {"verify", "check"},
    {"validate", "check"},  {"repair", "recover"}, {"flush", "commit"}, {"head", "cat"},     {"select", "repack"},
    {"schema", "info"},     {"describe", "info"},  {"summary", "info"}, {"split", "repack"},
};

const Command* find_by_other_word(std::string_view word) {
  const auto* found = std::ranges::find(kOtherWords, word, &OtherWord::word);
  return found == std::end(kOtherWords) ? nullptr : find_command(found->command);
}

}  // namespace

std::span<const Command> all_commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found == kCommands.end() ? nullptr : &*found;
}

std::string usage_of(const Command& command) {
  std::string text;
  for (const Flag& flag : command.flags) {
    // The last name is the one that says more.
    text += (text.empty() ? "[" : " [") + std::string(flag.names.substr(flag.names.rfind(',') + 1)) +
            (flag.value.empty() ? "" : " " + std::string(flag.value)) + "]";
  }
  for (const Argument& argument : command.arguments) text += (text.empty() ? "" : " ") + std::string(argument.name);
  return text;
}

std::optional<std::string> no_such_command(std::string_view argument) {
  constexpr std::size_t kWordMax = 32;
  const bool is_word = !argument.empty() && argument.size() <= kWordMax && argument[0] != '-' &&
                       argument.find_first_of("/.:") == std::string_view::npos;
  const std::string word(argument);
  if (!is_word || ::access(word.c_str(), F_OK) == 0) return std::nullopt;
  std::string told = "no such command or file: '" + word + "'; ";
  if (word == "mount") return told + "to mount, run tfilefs SOURCE MNT";
  const auto lead_on = [&told](const Command& command) {
    std::string line = told + "did you mean tfilefs " + std::string(command.name);
    for (const Argument& each : command.arguments) line += " " + std::string(each.name);
    return line + "?";
  };
  if (const Command* meant = find_by_other_word(lower_case(word))) return lead_on(*meant);
  NearestName nearest(word, (word.size() + 1) / 2);
  for (const Command& command : std::span(kCommands).subspan(1))
    if (command.is_for_people) nearest.look_at(command.name);
  if (!nearest.found().empty()) return lead_on(*find_command(nearest.found()));
  return told + "tfilefs --help lists all commands";
}

}  // namespace tfilefs
