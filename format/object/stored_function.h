// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "object/object_members.h"
#include "tfile/effort.h"
#include "tfile/result.h"

namespace tfile {

// The formula of a TF1 or TF2: since ROOT 6 it holds a TFormula, before it was one.
struct FormulaOf {
  std::string text;
  std::vector<double> parameters;
  std::vector<std::string> names;  // of the parameters, by number
};
FormulaOf formula_of(const ObjectMembers&);

// A function of one variable that can be evaluated. For one thread at a time.
class StoredFunction {
 public:
  virtual ~StoredFunction() = default;
  // What has no meaning any more once the effort is used up.
  virtual double value(double x, Effort&) = 0;
};

// What a TF1 says of itself: a formula, or that it is composed of other functions; or such a composition that stands
// by itself (TF1Convolution, TF1NormSum). Computes nothing yet. Errors: unsupported (compiled code, a formula that is
// not understood, a range without end, too many of them in each other).
Result<std::unique_ptr<StoredFunction>> stored_function(const ObjectMembers&);

}  // namespace tfile
