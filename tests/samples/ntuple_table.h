// SPDX-License-Identifier: Apache-2.0
// Tables with known values: each value is a function of the field's name and of a number, usually that of the entry.
#pragma once
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ntuple_values.h"

struct Field {
  std::string name;
  std::string type;  // the type of the view; empty: the type in the file
  std::function<std::unique_ptr<ROOT::RFieldBase>()> create;
  std::function<std::string(const std::string&)> source;  // of a projected field, in ROOT's form; else empty
  std::function<std::shared_ptr<void>()> object;          // a new value
  std::function<void(void*, long)> fill;
  std::function<void(void*)> keep;  // turns a value into the one that its column keeps; else empty
  std::function<void(std::ostream&, const void*)> put;
  std::function<std::shared_ptr<void>()> read_object;  // the object for views, if not `object`; and how to print it
  std::function<void(std::ostream&, const void*)> put_read;
  double tolerance = 0;              // allowed difference between readers
  long added = 0;                    // the entry before which the field is added to the schema
  std::function<bool(long)> stored;  // whether this number has a value in the file; empty: always
  std::string absent;                // JSON of a value that is not stored; empty: that of T()
};

struct Table {
  std::vector<Field> fields;
  long entries = 0;
  std::vector<long> cluster_ends;  // besides the last entry; a negative one also ends a cluster group
  std::vector<long> order;         // the number of each entry; empty: its index
  std::string path = "nt";
  std::string attributes;  // if set: the attribute set of this name, of the table at `path`
};

template <class... Fields>
Table table_of(long entries, std::vector<long> cluster_ends, Fields... fields) {
  Table table;
  (table.fields.push_back(std::move(fields)), ...);
  table.entries = entries;
  table.cluster_ends = std::move(cluster_ends);
  return table;
}

inline Dice dice_of(const std::string& name, long number) {
  std::seed_seq seed(name.begin(), name.end());
  std::uint32_t start[1];
  seed.generate(start, start + 1);
  return Dice(start[0] + 1000003u * std::uint64_t(number));
}

template <class T>
void fill_random(const std::string& name, long number, T& value) {
  Dice dice = dice_of(name, number);
  fill(dice, value);
}

// Views read RVecs as vectors: with an RVec, ROOT 6.40 frees memory that it does not own after some entries.
template <class T>
struct ReadAs {
  using Type = T;
};
template <class T>
struct ReadAs<ROOT::RVec<T>> {
  using Type = std::vector<typename ReadAs<T>::Type>;
};

// A field of C++ type T. `fill_one` sets its value for a number.
template <class T>
Field field(const std::string& name, std::function<void(T&, long)> fill_one) {
  Field made;
  made.name = name;
  using Read = typename ReadAs<T>::Type;
  made.type = ROOT::RField<Read>::TypeName();
  if (!std::is_same_v<T, Read>) {
    made.read_object = [] { return std::make_shared<Read>(); };
    made.put_read = [](std::ostream& out, const void* value) { put(out, *static_cast<const Read*>(value)); };
  }
  made.create = [name] { return std::make_unique<ROOT::RField<T>>(name); };
  made.object = [] { return std::make_shared<T>(); };
  made.fill = [fill_one](void* value, long number) { fill_one(*static_cast<T*>(value), number); };
  made.put = [](std::ostream& out, const void* value) { put(out, *static_cast<const T*>(value)); };
  return made;
}

template <class T>
Field field(const std::string& name) {
  return field<T>(name, [name](T& value, long number) { fill_random(name, number, value); });
}

// A field whose type in the file differs from T, its layout in memory.
template <class T>
Field created(const std::string& name, std::function<std::unique_ptr<ROOT::RFieldBase>()> create) {
  Field made;
  made.name = name;
  made.create = create;
  made.object = [] { return std::make_shared<T>(); };
  made.fill = [name](void* value, long number) { fill_random(name, number, *static_cast<T*>(value)); };
  made.put = [](std::ostream& out, const void* value) { put(out, *static_cast<const T*>(value)); };
  return made;
}

// A projection of type T of a field `from` of type S; `names`: the source of each of its (sub-)fields.
template <class T, class S>
Field projection(const std::string& name, std::map<std::string, std::string> names, std::function<T(const S&)> of) {
  const std::string from = names.at(name).substr(0, names.at(name).find('.'));
  Field made = field<T>(name, [from, of](T& value, long number) {
    S whole{};
    fill_random(from, number, whole);
    value = of(whole);
  });
  made.source = [names](const std::string& target) { return names.at(target); };
  return made;
}

// Small pages, so that a column has many.
ROOT::RNTupleWriteOptions small_pages(int compression);

std::unique_ptr<ROOT::RNTupleModel> bare_model(const Table&);

// Fills entries of a writer or a fill context, and sets their values.
class Filler {
 public:
  explicit Filler(const Table&);
  // An entry has the fields that exist for this number.
  template <class Context>
  void fill(Context& context, long number) {
    if (!entry_) entry_ = context.CreateEntry(), bind(number);
    set(number);
    context.Fill(*entry_);
  }
  void schema_changed() { entry_.reset(); }

 private:
  void bind(long number);
  void set(long number);
  const Table& table_;
  std::vector<std::shared_ptr<void>> values_;
  std::unique_ptr<ROOT::REntry> entry_;
};

// Fills all entries and ends the clusters. Calls `before` before each entry.
void fill_table(ROOT::RNTupleWriter&, const Table&, Filler&, const std::function<void(long)>& before = {});
void write_file(const Table&, const std::string& file, const ROOT::RNTupleWriteOptions&);
void write_into(TDirectory&, const Table&, const ROOT::RNTupleWriteOptions&);

// One JSON line per field: {"table", "field", "values": one per entry}, and the other properties of `Field`.
void put_expected(std::ostream&, const Table&);
// The same with the values that ROOT reads. A field that ROOT cannot read has "error" instead of "values".
void put_read(std::ostream&, const Table&, const std::string& file);
