// SPDX-License-Identifier: Apache-2.0
// event write FILE SPLIT COMPRESSION BASKET_SIZE ENTRIES: trees of Event and of collections, written by ROOT.
// event dump FILE ANSWER: what ROOT reads back, as one Python literal {branch: [entry, ...]}.
#include "event.h"

#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>

#include <fstream>
#include <limits>

#include "commands.h"
#include "python_literal.h"

namespace {

TRandom3 dice(5);

int few() { return int(dice.Integer(4)); }

template <class C, class Make>
void refill(C& collection, int size, Make make) {
  collection.clear();
  for (int i = 0; i < size; i++) collection.insert(collection.end(), make());
}

void fill(Hit& hit, int entry) {
  hit.id = entry * 10 + few();
  hit.energy = float(dice.Gaus());
  for (auto& t : hit.time) t = dice.Gaus();
  hit.channel = short(-entry);
  hit.good = entry % 2;
  refill(hit.samples, few(), [] { return float(dice.Gaus()); });
  hit.label = entry == 9 ? std::string(300, 'l') : std::string(size_t(few()), 'l');
  hit.text = std::string(size_t(few()), 't');
}

void fill(Pod& pod) {
  pod.a = int(dice.Integer(1000));
  pod.b = dice.Gaus();
}

void fill(Particle& particle, int entry) {
  particle.px = float(dice.Gaus());
  particle.py = float(entry);
  particle.pz = dice.Uniform(-100, 100);
  for (auto& id : particle.ids) id = few();
  for (auto& weight : particle.weights) weight = dice.Uniform(0, 10);
  for (auto& weight : particle.plain_weights) weight = dice.Gaus();
  for (auto& half : particle.halves) half = float(dice.Gaus());
  particle.label = std::string(size_t(few()), 'p');
  refill(particle.codes, few(), [] { return short(dice.Integer(100)); });
}

void fill(TClonesArray& particles, int size, int entry) {
  particles.Clear("C");
  for (int i = 0; i < size; i++) fill(*static_cast<Particle*>(particles.ConstructedAt(i)), entry);
}

void fill_numbers(Event& event, int entry) {
  event.m_bool = entry % 3 == 0;
  event.m_char = char(entry - 128);
  event.m_uchar = static_cast<unsigned char>(entry);
  event.m_short = short(entry * 257);
  event.m_ushort = static_cast<unsigned short>(entry * 263);
  event.m_int = entry == 1 ? std::numeric_limits<int>::min() : entry;
  event.m_uint = 4000000000u + unsigned(entry);
  event.m_long = std::numeric_limits<long>::min() + entry;
  event.m_ulong = std::numeric_limits<unsigned long>::max() - unsigned(entry);
  event.m_long64 = Long64_t(entry) << 40;
  event.m_ulong64 = ULong64_t(entry) << 55;
  event.m_float = float(dice.Gaus());
  event.m_double = dice.Gaus();
  event.m_enum = entry % 2 ? kBelow : kAbove;
  event.m_d32 = event.m_d32_bits = dice.Gaus();
  event.m_d32_range = entry == 3 ? 10 : dice.Uniform(0, 10);
  event.m_d32_wide = dice.Uniform(-6, 6);
  event.m_f16 = event.m_f16_bits = Float16_t(dice.Gaus());
  event.m_f16_range = Float16_t(dice.Uniform(-1, 1));
}

void fill(Event& event, int entry) {
  event.base_id = -entry;
  event.base_x = dice.Gaus();
  refill(event.base_list, few(), [] { return few(); });
  fill_numbers(event, entry);
  for (auto& x : event.m_array) x = float(dice.Gaus());
  for (auto& row : event.m_matrix)
    for (auto& x : row) x = few();
  for (auto& x : event.m_d32_array) x = dice.Uniform(0, 10);
  for (auto& x : event.m_stdarray) x = float(dice.Gaus());
  delete[] event.m_dynamic;
  event.m_count = entry % 4;
  event.m_dynamic = event.m_count ? new float[size_t(event.m_count)] : nullptr;
  for (int i = 0; i < event.m_count; i++) event.m_dynamic[i] = float(dice.Gaus());
  event.m_string = entry == 5 ? std::string(300, 'x') : entry % 4 ? "string " + std::to_string(entry) : "";
  event.m_tstring = entry == 6 ? std::string(260, 'y') : entry % 3 ? "tstring " + std::to_string(entry) : "";
  refill(event.m_vbool, few(), [] { return bool(few() % 2); });
  refill(event.m_vint, entry == 8 ? 1000 : few(), [] { return few(); });
  refill(event.m_vfloat, few(), [] { return float(dice.Gaus()); });
  refill(event.m_vlong, few(), [] { return Long64_t(few()) << 50; });
  refill(event.m_vd32, few(), [] { return dice.Gaus(); });
  refill(event.m_vstring, few(), [] { return std::string(size_t(few()), 's'); });
  refill(event.m_list, few(), [] { return short(few()); });
  refill(event.m_deque, few(), [] { return unsigned(few()); });
  refill(event.m_set, few(), [] { return few(); });
  event.m_map.clear();
  for (int i = few(); i > 0; i--) event.m_map[i * entry] = float(dice.Gaus());
  refill(event.m_nested, few(), [] { return std::vector<int>(size_t(few()), few()); });
  fill(event.m_pod);
  fill(event.m_hit, entry);
  refill(event.m_pods, few(), [] {
    Pod pod;
    fill(pod);
    return pod;
  });
  refill(event.m_hits, few(), [entry] {
    Hit hit;
    fill(hit, entry);
    return hit;
  });
  fill(event.m_particles, few(), entry);
}

void write_file(const char* name, int split, int compression, int basket_size, int entries) {
  TFile file(name, "RECREATE", "", compression);
  TTree tree("t", "one class");
  Event event;
  std::vector<Hit> hits;
  std::vector<Pod> pods;
  std::vector<Double32_t> d32;
  std::vector<std::vector<std::string>> texts;
  TClonesArray particles("Particle");
  std::string text;
  tree.Branch("event", &event, basket_size, split);
  tree.Branch("dotted.", &event, basket_size, split);
  tree.Branch("hits", &hits, basket_size, split);
  tree.Branch("pods", &pods, basket_size, split);
  tree.Branch("d32", "vector<Double32_t>", &d32, basket_size, split);
  tree.Branch("texts", &texts, basket_size, split);
  tree.Branch("particles", &particles, basket_size, split);
  tree.Branch("text", &text, basket_size, split);
  for (int entry = 0; entry < entries; entry++) {
    fill(event, entry);
    refill(hits, few(), [entry] {
      Hit hit;
      fill(hit, entry);
      return hit;
    });
    refill(pods, few(), [] {
      Pod pod;
      fill(pod);
      return pod;
    });
    refill(d32, few(), [] { return dice.Gaus(); });
    refill(texts, few(), [] { return std::vector<std::string>(size_t(few()), std::string(size_t(few()), 't')); });
    fill(particles, few(), entry);
    text = std::string(size_t(few()), 'z');
    tree.Fill();
  }
  tree.Write();
}

}  // namespace

// These are found by argument-dependent lookup from the templates of python_literal.h.
using namespace literal;

#define MEMBER(object, name) out << "'" #name "':", put(out, object.name), out << ","
#define ARRAY(object, name) \
  out << "'" #name "':", put_array(out, object.name, sizeof object.name / sizeof *object.name), out << ","

void put(std::ostream& out, const TString& value) { put_bytes(out, value.Data(), size_t(value.Length())); }

void put(std::ostream& out, const Pod& pod) {
  out << "{";
  MEMBER(pod, a), MEMBER(pod, b);
  out << "}";
}

void put(std::ostream& out, const Hit& hit) {
  out << "{";
  MEMBER(hit, id), MEMBER(hit, energy), MEMBER(hit, channel), MEMBER(hit, good), MEMBER(hit, samples);
  MEMBER(hit, label), MEMBER(hit, text);
  ARRAY(hit, time);
  out << "}";
}

void put(std::ostream& out, const Particle& particle) {
  out << "{";
  MEMBER(particle, px), MEMBER(particle, py), MEMBER(particle, pz), MEMBER(particle, codes);
  ARRAY(particle, ids), ARRAY(particle, weights), ARRAY(particle, plain_weights), ARRAY(particle, halves);
  MEMBER(particle, label);
  out << "}";
}

void put(std::ostream& out, const TClonesArray& particles) {
  out << "[";
  for (int i = 0; i < particles.GetEntriesFast(); i++)
    put(out, *static_cast<const Particle*>(particles.UncheckedAt(i))), out << ",";
  out << "]";
}

void put(std::ostream& out, const std::map<int, float>& map) {
  out << "[";
  for (const auto& [key, value] : map) {
    out << "{'key':", put(out, key), out << ",'value':", put(out, value), out << "},";
  }
  out << "]";
}

void put_base(std::ostream& out, const Base& base) {
  out << "'Base':{";
  MEMBER(base, base_id), MEMBER(base, base_x), MEMBER(base, base_list);
  out << "},";
}

void put(std::ostream& out, const Event& event) {
  out << "{";
  put_base(out, event);
  MEMBER(event, m_bool), MEMBER(event, m_char), MEMBER(event, m_uchar), MEMBER(event, m_short), MEMBER(event, m_ushort);
  MEMBER(event, m_int), MEMBER(event, m_uint), MEMBER(event, m_long), MEMBER(event, m_ulong), MEMBER(event, m_long64);
  MEMBER(event, m_ulong64), MEMBER(event, m_float), MEMBER(event, m_double);
  out << "'m_enum':" << int(event.m_enum) << ",";
  MEMBER(event, m_d32), MEMBER(event, m_d32_range), MEMBER(event, m_d32_wide), MEMBER(event, m_d32_bits);
  MEMBER(event, m_f16), MEMBER(event, m_f16_range), MEMBER(event, m_f16_bits);
  ARRAY(event, m_array), ARRAY(event, m_d32_array);
  out << "'m_matrix':[";
  for (const auto& row : event.m_matrix) put_array(out, row, 3), out << ",";
  out << "],";
  MEMBER(event, m_stdarray), MEMBER(event, m_count);
  out << "'m_dynamic':", put_array(out, event.m_dynamic, size_t(event.m_count)), out << ",";
  MEMBER(event, m_string), MEMBER(event, m_tstring), MEMBER(event, m_vbool), MEMBER(event, m_vint);
  MEMBER(event, m_vfloat), MEMBER(event, m_vlong), MEMBER(event, m_vd32);
  MEMBER(event, m_vstring), MEMBER(event, m_list), MEMBER(event, m_deque), MEMBER(event, m_set), MEMBER(event, m_map);
  MEMBER(event, m_nested), MEMBER(event, m_pod), MEMBER(event, m_hit), MEMBER(event, m_pods), MEMBER(event, m_hits);
  MEMBER(event, m_particles);
  out << "}";
}

namespace {

template <class T>
void dump_branch(std::ostream& out, TTree& tree, const char* name) {
  T* object = nullptr;
  TBranch* branch = nullptr;
  tree.SetBranchAddress(name, &object, &branch);
  out << "'" << name << "':[";
  for (Long64_t i = 0; i < tree.GetEntries(); i++) {
    branch->GetEntry(i);
    put(out, *object);
    out << ",";
  }
  out << "],\n";
  tree.ResetBranchAddresses();
}

void dump_file(const char* name, const char* answer) {
  TFile file(name);
  TTree& tree = *file.Get<TTree>("t");
  std::ofstream out(answer);
  out << "{";
  dump_branch<Event>(out, tree, "event");
  dump_branch<Event>(out, tree, "dotted.");
  dump_branch<std::vector<Hit>>(out, tree, "hits");
  dump_branch<std::vector<Pod>>(out, tree, "pods");
  dump_branch<std::vector<Double32_t>>(out, tree, "d32");
  dump_branch<std::vector<std::vector<std::string>>>(out, tree, "texts");
  dump_branch<TClonesArray>(out, tree, "particles");
  dump_branch<std::string>(out, tree, "text");
  out << "}";
}

}  // namespace

int main(int count, char** arguments) { return run_command(count, arguments, write_file, dump_file); }
