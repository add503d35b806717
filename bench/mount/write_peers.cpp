// SPDX-License-Identifier: Apache-2.0
// Writes a table of columns, which are in memory before the clock starts, with ROOT's own writers. Prints the seconds
// from the creation of the file until its bytes are on disk. Compiled by write.py.
//
//   write_peers tree|tree-threads|ntuple-threads COLUMNS LIST FILE COMPRESSION
//
// COLUMNS: a directory of columns as in a mount. LIST: a file with a line NAME TYPE for each branch. TYPE: f4 f8 i4 b1,
// or f4[] i4[], counted by nPREFIX if the name is PREFIX_xxx.

#include <TBranch.h>
#include <TFile.h>
#include <TROOT.h>
#include <TTree.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ROOT/RNTupleFillContext.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleParallelWriter.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RVec.hxx>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kItemsMax = 32;  // per list
constexpr unsigned kThreads = 2;

struct Mapped {
  const char* data = nullptr;
  std::size_t size = 0;
};

Mapped mapped(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY);
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0) std::perror(path.c_str()), std::exit(1);
  Mapped made{nullptr, static_cast<std::size_t>(status.st_size)};
  if (made.size > 0)
    made.data = static_cast<const char*>(::mmap(nullptr, made.size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0));
  ::close(file);
  return made;
}

struct Column {
  std::string name, type;
  bool list = false;
  std::size_t item = 4;
  Mapped values, offsets;
  std::size_t items(long entry) const { return list ? offset(entry + 1) - offset(entry) : 1; }
  std::size_t offset(long i) const { return reinterpret_cast<const long*>(offsets.data)[i]; }
  const char* at(long entry) const { return values.data + item * (list ? offset(entry) : entry); }
  std::string counter() const { return "n" + name.substr(0, name.find('_')); }
};

std::vector<Column> load(const std::string& directory, const char* list) {
  std::vector<Column> columns;
  std::ifstream lines(list);
  for (Column column; lines >> column.name >> column.type; columns.push_back(column)) {
    column.list = column.type.size() > 2;
    column.type.resize(2);
    column.item = column.type[1] - '0';
    const std::string base = directory + "/" + column.name;
    column.values = mapped(column.list ? base + "/values." + column.type : base + "." + column.type);
    if (column.list) column.offsets = mapped(base + "/offsets.i8");
  }
  return columns;
}

void write_tree(const std::vector<Column>& columns, long entries, const char* path, int compression) {
  TFile file(path, "RECREATE", "", compression);
  TTree tree("t", "");
  std::vector<char> buffers(columns.size() * kItemsMax * 8);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    const char leaf = column.type == "f4" ? 'F' : column.type == "f8" ? 'D' : column.type == "i4" ? 'I' : 'O';
    const std::string count = column.list ? "[" + column.counter() + "]" : "";
    tree.Branch(column.name.c_str(), &buffers[i * kItemsMax * 8], (column.name + count + "/" + leaf).c_str());
  }
  for (long entry = 0; entry < entries; ++entry) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      std::memcpy(&buffers[i * kItemsMax * 8], columns[i].at(entry), columns[i].item * columns[i].items(entry));
    tree.Fill();
  }
  tree.Write();
}

template <class T>
std::shared_ptr<void> bind(ROOT::REntry& entry, const Column& column) {
  if (column.list) return entry.GetPtr<ROOT::RVec<T>>(column.name);
  return entry.GetPtr<T>(column.name);
}

template <class T>
void make_field(ROOT::RNTupleModel& model, const Column& column) {
  if (column.list)
    model.MakeField<ROOT::RVec<T>>(column.name);
  else
    model.MakeField<T>(column.name);
}

template <class T>
void set(void* field, const Column& column, long entry) {
  if (!column.list) {
    std::memcpy(field, column.at(entry), sizeof(T));
    return;
  }
  auto& list = *static_cast<ROOT::RVec<T>*>(field);
  list.resize(column.items(entry));
  std::memcpy(list.data(), column.at(entry), sizeof(T) * list.size());
}

void write_ntuple(const std::vector<Column>& columns, long entries, const char* path, int compression) {
  auto model = ROOT::RNTupleModel::Create();
  for (const Column& column : columns) {
    if (column.type == "f4") make_field<float>(*model, column);
    if (column.type == "f8") make_field<double>(*model, column);
    if (column.type == "i4") make_field<int>(*model, column);
    if (column.type == "b1") make_field<bool>(*model, column);
  }
  ROOT::RNTupleWriteOptions options;
  options.SetCompression(compression);
  auto writer = ROOT::RNTupleParallelWriter::Recreate(std::move(model), "t", path, options);
  const auto fill = [&](long begin, long end) {
    auto context = writer->CreateFillContext();
    auto row = context->CreateEntry();
    std::vector<std::shared_ptr<void>> fields;
    for (const Column& column : columns) {
      if (column.type == "f4") fields.push_back(bind<float>(*row, column));
      if (column.type == "f8") fields.push_back(bind<double>(*row, column));
      if (column.type == "i4") fields.push_back(bind<int>(*row, column));
      if (column.type == "b1") fields.push_back(bind<bool>(*row, column));
    }
    for (long entry = begin; entry < end; ++entry) {
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].type == "f4") set<float>(fields[i].get(), columns[i], entry);
        if (columns[i].type == "f8") set<double>(fields[i].get(), columns[i], entry);
        if (columns[i].type == "i4") set<int>(fields[i].get(), columns[i], entry);
        if (columns[i].type == "b1") set<bool>(fields[i].get(), columns[i], entry);
      }
      context->Fill(*row);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back(fill, entries * i / kThreads, entries * (i + 1) / kThreads);
  for (std::thread& thread : threads) thread.join();
  writer.reset();
}

void sync_file(const char* path) {
  const int file = ::open(path, O_RDONLY);
  if (file < 0 || ::fsync(file) != 0) std::perror(path), std::exit(1);
  ::close(file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const std::string way = argv[1];
  const std::vector<Column> columns = load(argv[2], argv[3]);
  const auto scalar = std::find_if(columns.begin(), columns.end(), [](const Column& column) { return !column.list; });
  const auto entries = static_cast<long>(scalar->values.size / scalar->item);
  const int compression = std::atoi(argv[5]);
  if (way.ends_with("-threads")) ROOT::EnableThreadSafety();
  if (way == "tree-threads") ROOT::EnableImplicitMT(kThreads);
  const auto begin = std::chrono::steady_clock::now();
  if (way == "ntuple-threads")
    write_ntuple(columns, entries, argv[4], compression);
  else
    write_tree(columns, entries, argv[4], compression);
  sync_file(argv[4]);
  std::printf("%f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return 0;
}
