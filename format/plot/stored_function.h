// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "object/object_members.h"
#include "tfile/effort.h"
#include "tfile/result.h"

namespace tfile {

// The formula of a TF1 or TF2. Since ROOT 6 it contains a TFormula; before, it was one.
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
  // Once the effort is used up, the result is meaningless.
  virtual double value(double x, Effort&) = 0;
};

// The function of a TF1: a formula, or a composition of other functions. Also a composition that is an object of its
// own (TF1Convolution, TF1NormSum). Computes no values. Errors: unsupported (compiled code, a formula that is not
// understood, an infinite range, too many nested functions).
Result<std::unique_ptr<StoredFunction>> stored_function(const ObjectMembers&);

}  // namespace tfile
