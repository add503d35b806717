// SPDX-License-Identifier: Apache-2.0
#include "query/draw.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace tfilefs {

using tfile::EntryRange;
using tfile::fail;

namespace {

// Bins of all axes together, with those beyond them: of one axis ten million, and some more for several.
constexpr std::uint64_t kBinsMax = 12'000'000;

// The result of a unit: bins, and values that need other axes, or none yet.
struct DrawnUnit {
  std::optional<DrawnHistogram> filled;
  std::size_t extensions = 0;  // that its axes have
  DrawnValues rest;
};

// Takes the numbers of blocks of which the weight is not 0. Outputs are z, y, x or the like, and factors of the weight.
class ValueTaker {
 public:
  ValueTaker(std::size_t dimensions, std::size_t factors)
      : dimensions_(dimensions), factors_(factors), values_(dimensions) {}

  const DrawnValues& take(const QueryBlock& block) {
    weigh(block);
    for (std::size_t d = 0; d < dimensions_; ++d) {
      const std::span<const double> from = block.values(dimensions_ - 1 - d);
      std::vector<double>& into = values_.numbers[d];
      into.resize(values_.size());
      if (factors_ == 0) {
        std::ranges::copy(from, into.begin());
      } else {
        for (std::size_t i = 0; i < into.size(); ++i) into[i] = from[kept_[i]];
      }
    }
    return values_;
  }

 private:
  // Without a branch for each, which a processor would guess wrongly for many.
  void weigh(const QueryBlock& block) {
    const std::size_t count = block.iterations();
    values_.weights.assign(count, 1);
    if (factors_ == 0) return;
    for (std::size_t i = 0; i < factors_; ++i) {
      const std::span<const double> factor = block.values(dimensions_ + i);
      for (std::size_t n = 0; n < count; ++n) values_.weights[n] *= factor[n];
    }
    kept_.resize(count);
    std::size_t kept = 0;
    for (std::uint32_t n = 0; n < count; ++n) {
      const double weight = values_.weights[n];
      kept_[kept] = n;
      values_.weights[kept] = weight;
      kept += weight != 0 ? 1 : 0;
    }
    values_.weights.resize(kept);
  }

  const std::size_t dimensions_, factors_;
  DrawnValues values_;
  std::vector<std::uint32_t> kept_;
};

class DrawRun {
 public:
  DrawRun(const QuerySource& source, const Query& query, const DrawRequest& request, std::size_t dimensions)
      : source_(source),
        query_(query),
        request_(request),
        dimensions_(dimensions),
        factors_(query.outputs() - dimensions),
        axes_count_(dimensions - (request.is_profile ? 1 : 0)),
        waiting_(dimensions) {}

  Result<DrawnHistogram> run(const DrawWork& work) {
    if (are_ranges_given()) find_axes();
    const ScanOptions options{{0, query_.end()}, work.stop, work.progress};
    TRY_VOID(scan_units(
        source_.table, options, work.threads, [&](EntryRange unit) { return job(unit, work.stop); },
        [&](DrawnUnit made) { return take(std::move(made)); }));
    if (!histogram_) {
      find_axes();
      histogram_->fill(waiting_);
    }
    return *std::move(histogram_);
  }

  static std::uint64_t bins_together(const DrawRequest& request, std::size_t axes) {
    std::uint64_t bins = 1;
    for (std::size_t i = 0; i < axes; ++i) bins *= static_cast<std::uint64_t>(bins_of(request, axes, i)) + 2;
    return bins;
  }

 private:
  // As ROOT's Hist.Binning has them.
  static std::int32_t bins_of(const DrawRequest& request, std::size_t axes, std::size_t axis) {
    if (axis < request.bins.size()) return request.bins[axis];
    if (axes == 1) return 100;
    return axes == 2 && !request.is_profile ? 40 : 20;
  }
  std::optional<std::pair<double, double>> range_of(std::size_t axis) const {
    return axis < request_.ranges.size() ? request_.ranges[axis] : std::nullopt;
  }
  bool are_ranges_given() const {
    for (std::size_t axis = 0; axis < axes_count_; ++axis) {
      if (!range_of(axis)) return false;
    }
    return true;
  }

  // Finds axes for the values that wait.
  void find_axes() {
    std::vector<HistogramAxis> axes;
    can_extend_ = !are_ranges_given();
    for (std::size_t axis = 0; axis < axes_count_; ++axis) {
      const std::int32_t bins = bins_of(request_, axes_count_, axis);
      if (const auto given = range_of(axis)) {
        axes.push_back({bins, given->first, given->second, true});
        continue;
      }
      double least = DBL_MAX, most = -DBL_MAX;
      for (const double x : waiting_.numbers[axis]) {
        if (least > x) least = x;
        if (most < x) most = x;
      }
      axes.push_back(good_axis(bins, least, most, query_.is_integer(dimensions_ - 1 - axis)));
    }
    histogram_.emplace(std::move(axes), request_.is_profile);
  }

  // The job of a unit, with the axes as they are now.
  std::function<Result<DrawnUnit>()> job(EntryRange unit, const std::stop_token& stop) const {
    std::optional<std::vector<HistogramAxis>> axes;
    if (histogram_) axes = histogram_->axes();
    return [this, unit, stop, axes = std::move(axes), extensions = extensions_.size(),
            keeps_rest = can_extend_]() -> Result<DrawnUnit> {
      DrawnUnit made{std::nullopt, extensions, DrawnValues(dimensions_)};
      if (axes) made.filled.emplace(*axes, request_.is_profile);
      ValueTaker taker(dimensions_, factors_);
      TRY_VOID(evaluate_unit(source_, query_, unit, stop, [&](const QueryBlock& block, EntryRange) -> Result<> {
        const DrawnValues& values = taker.take(block);
        if (made.filled)
          made.filled->fill(values, keeps_rest ? &made.rest : nullptr);
        else
          made.rest.append(values, 0, values.size());
        return {};
      }));
      return made;
    };
  }

  Result<> take(DrawnUnit unit) {
    if (unit.filled) {
      for (std::size_t i = unit.extensions; i < extensions_.size(); ++i) unit.filled->extend(extensions_[i]);
      histogram_->add(*unit.filled);
      add_extending(unit.rest, 0);
      return {};
    }
    if (histogram_) {
      add_extending(unit.rest, 0);
      return {};
    }
    const std::size_t taken = std::min(unit.rest.size(), kAxisValues - waiting_.size());
    waiting_.append(unit.rest, 0, taken);
    if (waiting_.size() < kAxisValues) return {};
    find_axes();
    histogram_->fill(waiting_);
    waiting_ = DrawnValues(dimensions_);
    add_extending(unit.rest, taken);
    return {};
  }

  void add_extending(const DrawnValues& values, std::size_t begin) {
    for (std::size_t i = begin; i < values.size(); ++i) {
      for (std::size_t axis = 0; axis < axes_count_; ++axis) {
        // A value that is no number ends that, as in ROOT.
        if (std::isnan(values.numbers[axis][i])) can_extend_ = false;
      }
      if (can_extend_) {
        for (const auto& each : histogram_->fill_extending(values, i)) extensions_.push_back(each);
      } else {
        DrawnValues one(dimensions_);
        one.add(values, i);
        histogram_->fill(one);
      }
    }
  }

  const QuerySource& source_;
  const Query& query_;
  const DrawRequest& request_;
  const std::size_t dimensions_, factors_, axes_count_;
  DrawnValues waiting_;
  std::optional<DrawnHistogram> histogram_;  // once its axes are known
  bool can_extend_ = true;
  std::vector<DrawnHistogram::Extension> extensions_;
};

// The factors of a value's weight.
std::vector<std::string> factors_of(const DrawRequest& request) {
  std::vector<std::string> factors;
  if (!request.cut.empty()) factors.push_back(request.cut);
  if (!request.weights.empty()) factors.push_back(request.weights);
  return factors;
}

}  // namespace

FriendNamingTexts texts_of_drawing(const DrawRequest& request, NamedExpressions definitions) {
  FriendNamingTexts texts{factors_of(request), std::move(definitions)};
  texts.expressions.push_back(request.expressions);
  return texts;
}

Result<Query> bind_drawing(const DrawRequest& request, const QueryScope& scope) {
  const std::vector<std::string> factors = factors_of(request);
  TRY(Query query, Query::bind(request.expressions, factors, scope));
  const std::size_t dimensions = query.outputs() - factors.size(), least = request.is_profile ? 2 : 1;
  if (dimensions < least || dimensions > 3)
    return fail(ErrorKind::invalid, std::to_string(dimensions) + " expressions cannot be drawn so: expected " +
                                        std::to_string(least) + " to 3");
  const std::size_t axes = dimensions - (request.is_profile ? 1 : 0);
  if (const std::size_t given = std::max(request.bins.size(), request.ranges.size()); given > axes)
    return fail(ErrorKind::invalid, (request.bins.size() == given ? "bins of " : "ranges of ") + std::to_string(given) +
                                        " axes: there " + (axes == 1 ? "is 1" : "are " + std::to_string(axes)));
  if (DrawRun::bins_together(request, axes) > kBinsMax)
    return fail(ErrorKind::invalid, "more than 12,000,000 bins, with those beyond the axes");
  return query;
}

Result<Drawing> draw(const QuerySource& source, const Query& query, const DrawRequest& request, const DrawWork& work) {
  const std::size_t dimensions = query.outputs() - factors_of(request).size();
  TRY(DrawnHistogram histogram, DrawRun(source, query, request, dimensions).run(work));
  Drawing made{std::move(histogram), {}, request.expressions};
  for (std::size_t i = dimensions; i-- > 0;) made.titles.push_back(query.text(i));
  if (!request.cut.empty()) made.title += " {" + request.cut + "}";
  return made;
}

}  // namespace tfilefs
