// SPDX-License-Identifier: Apache-2.0
#include "remote/server/line_speed.h"

#include <algorithm>

namespace tfile {
namespace {

// An answer of this size adds little to the delay on any line.
constexpr std::uint64_t kSmall = 16 << 10;
// Less than this arrives before a line has its full speed.
constexpr std::uint64_t kRateMin = 64 << 10;
// While a line is never idle, its rate is taken anew after this time.
constexpr std::chrono::seconds kPeriodMax{1};
constexpr std::uint64_t kInFlightMax = 2 << 20;

}  // namespace

SourceTraits line_traits(std::chrono::steady_clock::duration delay, std::uint64_t bytes_per_second) {
  SourceTraits traits;
  traits.delay = std::chrono::duration_cast<std::chrono::microseconds>(delay);
  traits.bytes_per_second = bytes_per_second;
  if (traits.bytes_in_flight() > kInFlightMax && traits.delay.count() > 0)
    traits.bytes_per_second = kInFlightMax * 1'000'000 / static_cast<std::uint64_t>(traits.delay.count());
  return traits;
}

void LineSpeed::guess_delay(Span delay) {
  if (!delay_measured_) delay_ = delay;
}

LineSpeed::Sent LineSpeed::sent(Time now) {
  const bool alone = under_way_++ == 0;
  if (alone) {
    period_begin_ = now;
    period_bytes_ = 0;
  }
  return {now, alone};
}

void LineSpeed::answered(Time now, const Sent& sent, std::uint64_t bytes) {
  --under_way_;
  period_bytes_ += bytes;
  if (sent.alone && bytes <= kSmall) note_delay(now - sent.at);
  if (under_way_ > 0 && now - period_begin_ < kPeriodMax) return;
  if (period_bytes_ >= kRateMin) note_rate(now - period_begin_, period_bytes_);
  period_begin_ = now;
  period_bytes_ = 0;
}

// The smallest time is the line's own; the rest is the server at work. A line that has become slower is believed
// slowly.
void LineSpeed::note_delay(Span time) {
  if (!delay_measured_ || time < delay_)
    delay_ = time;
  else
    delay_ += (time - delay_) / 16;
  delay_measured_ = true;
}

// The delay is no part of the transfer; but where both are much alike, their difference tells nothing.
void LineSpeed::note_rate(Span time, std::uint64_t bytes) {
  const Span transfer = std::max({time - delay_, time / 4, Span(1)});
  const double rate = static_cast<double>(bytes) / std::chrono::duration<double>(transfer).count();
  rate_ = rate_measured_ ? rate_ + (rate - rate_) / 4 : rate;
  rate_measured_ = true;
}

}  // namespace tfile
