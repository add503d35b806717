// SPDX-License-Identifier: Apache-2.0
// Evaluates expressions of a table without a mount: what oracle/test_draw.py asks on standard input is a JSON object a
// line, {"source", "expression", "cut"}, with "friends" true if it may name columns of friends, and so is the answer:
// {"values", "weights"}, or {"error"}.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "query/query_scan.h"
#include "repack/chain_source.h"
#include "repack/where_choice.h"
#include "vfs/names/chain_names.h"

namespace tfilefs {
namespace {

using nlohmann::json;

// JSON has no infinities, and no NaN.
json number(double value) {
  if (value - value == 0) return value;
  return value > 0 ? "inf" : value < 0 ? "-inf" : "nan";
}

Result<json> answer(ChainSource& source, const json& question) {
  const QueryScope scope = scope_of(source, {}, true);
  const std::string cut = question.value("cut", "");
  const std::vector<std::string> others = cut.empty() ? std::vector<std::string>() : std::vector{cut};
  TRY(const Query query, Query::bind(question.at("expression").get<std::string>(), others, scope));
  const std::size_t outputs = query.outputs() - others.size();
  std::vector<std::vector<json>> values(outputs);
  std::vector<json> weights;
  QueryUnits units(source.named_table(), {0, source.named_table().entries});
  while (const auto unit = units.next()) {
    const QuerySource from{source.named_table(), source.named_streams()};
    TRY_VOID(evaluate_unit(from, query, *unit, {}, [&](const QueryBlock& block, tfile::EntryRange) -> Result<> {
      for (std::size_t i = 0; i < block.iterations(); ++i) {
        const double weight = others.empty() ? 1 : block.values(outputs)[i];
        if (weight == 0) continue;
        weights.push_back(number(weight));
        for (std::size_t k = 0; k < outputs; ++k) values[k].push_back(number(block.values(k)[i]));
      }
      return {};
    }));
  }
  return json{{"values", values}, {"weights", weights}};
}

void run() {
  std::string open_name, line;
  std::unique_ptr<ChainSource> source;
  while (std::getline(std::cin, line)) {
    const json question = json::parse(line);
    const std::string name = question.at("source");
    WantedFriends friends;
    if (question.value("friends", false))
      friends.texts.expressions = {question.at("expression").get<std::string>(), question.value("cut", "")};
    if (name != open_name || !friends.texts.expressions.empty()) {
      source.reset();
      auto files = chain_names(name);
      if (!files) throw std::runtime_error(files.error().text);
      const std::string table = files->front().table;
      CacheOptions options;
      options.memory = 64 << 20;
      options.threads = 2;
      auto opened = ChainSource::open(options, *std::move(files), table, {}, friends);
      if (!opened) throw std::runtime_error(opened.error().text);
      source = *std::move(opened);
      open_name = name;
    }
    const auto made = answer(*source, question);
    std::cout << (made ? *made : json{{"error", made.error().text}}).dump() << "\n";
  }
}

}  // namespace
}  // namespace tfilefs

int main() {
  tfilefs::run();
  return 0;
}
