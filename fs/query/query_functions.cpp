// SPDX-License-Identifier: Apache-2.0
#include "query/query_functions.h"

#include <algorithm>
#include <span>
#include <utility>

#include "tfile/formula_functions.h"
#include "word_distance.h"

namespace tfilefs {
namespace {

using Step = QueryStep::Kind;

// The name without the namespaces in which it may stand, as formulas have it.
std::string_view plain(std::string_view name) {
  for (const std::string_view space : {"::", "std::", "TMath::", "ROOT::Math::"}) {
    if (name.starts_with(space)) name.remove_prefix(space.size());
  }
  return tfile::plain_name(name);
}

const tfile::Constant* constant_named(std::string_view name) {
  const auto all = tfile::constants();
  const bool is_of_tmath = name.starts_with("TMath::");
  // TTreeFormula has no letters for constants of nature: they are names of columns.
  const auto is_meant = [&](const tfile::Constant& each) {
    const bool is_letter = each.name.size() == 1 || each.name == "sigma";
    return is_of_tmath ? !each.call.empty() && each.call == plain(name) : each.name == name && !is_letter;
  };
  const auto found = std::ranges::find_if(all, is_meant);
  return found == all.end() ? nullptr : &*found;
}

// Null: there is none of that name.
template <class Function>
const Function* function_named(std::span<const Function> all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Function::name);
  return found == all.end() || name.empty() ? nullptr : &*found;
}

// TTreeFormula's own, which are those of the standard library: without an order the first, and the second of TMath's.
constexpr std::pair<std::string_view, double (*)(double, double)> kOwnOfTwo[] = {
    {"min", [](double x, double y) { return y < x ? y : x; }},
    {"max", [](double x, double y) { return x < y ? y : x; }}};

double (*function_of_two(std::string_view name))(double, double) {
  for (const auto& [own, call] : kOwnOfTwo) {
    if (name == own) return call;
  }
  const auto* const function = function_named(tfile::functions_of_two(), plain(name));
  return function ? function->call : nullptr;
}

}  // namespace

std::optional<QueryFunction> query_function(std::string_view name, std::size_t arguments) {
  QueryFunction made;
  if (const auto* constant = arguments == 0 ? constant_named(name) : nullptr) {
    made.is_constant = true;
    made.constant = constant->value;
    return made;
  }
  if (arguments == 1) {
    if (const ForEachNumber loop = loop_of_function(name)) {
      made.step.kind = Step::call_one;
      made.step.call.loop = loop;
      return made;
    }
    if (const auto* const function = function_named(tfile::functions_of_one(), plain(name))) {
      made.step.kind = Step::call_plain;
      made.step.call.one = function->call;
      return made;
    }
  }
  if (arguments == 2) {
    if (double (*const call)(double, double) = function_of_two(name)) {
      made.step.kind = Step::call_two;
      made.step.call.two = call;
      return made;
    }
  }
  const auto* const special = function_named(tfile::special_functions(), plain(name));
  if (!special || arguments < special->least || arguments > special->most) return std::nullopt;
  made.step.kind = Step::call_several;
  made.step.call.several = special->call;
  made.step.count = static_cast<std::uint32_t>(arguments);
  return made;
}

std::string function_like(std::string_view name) {
  NearestName nearest(plain(name), std::max<std::size_t>(1, name.size() / 2));
  for (const auto& each : tfile::functions_of_one()) nearest.look_at(each.name);
  for (const auto& each : tfile::functions_of_two()) nearest.look_at(each.name);
  for (const auto& each : tfile::special_functions()) nearest.look_at(each.name);
  return nearest.found();
}

}  // namespace tfilefs
