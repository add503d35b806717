// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "query/drawn_histogram.h"
#include "query/named_friends.h"
#include "query/query_scan.h"
#include "reply.h"

namespace tfilefs {

// A drawing, as TTree::Draw takes it.
struct DrawRequest {
  std::string expressions;         // "x", "y:x", "z:y:x"
  std::string cut, weights;        // "": none. The value of a cut is a weight as well
  std::vector<std::int32_t> bins;  // of each axis, x first; of those that are missing as ROOT has them
  std::vector<std::optional<std::pair<double, double>>> ranges;  // the same; nothing: as ROOT finds them
  bool is_profile = false;                                       // the first expression is a value of the others
};

struct Drawing {
  DrawnHistogram histogram;
  std::vector<std::string> titles;  // of the axes, x first; then of the values of a profile
  std::string title;                // "y:x {cut}"
};

struct DrawWork {
  ScanThreads& threads;
  std::stop_token stop = {};
  std::function<void(double)> progress = {};
};

// The texts of a drawing that may name friends.
FriendNamingTexts texts_of_drawing(const DrawRequest&, NamedExpressions definitions = {});

// The expressions of a drawing, then its cut and weights. Errors: invalid (an expression, as Query::bind; more or fewer
// than can be drawn; bins or ranges of more axes than there are; more than twelve million bins).
Result<Query> bind_drawing(const DrawRequest&, const QueryScope&);

// `query`: what bind_drawing() made of the request. Blocks. Errors: those of evaluate_unit().
Result<Drawing> draw(const QuerySource&, const Query& query, const DrawRequest&, const DrawWork&);

}  // namespace tfilefs
