// SPDX-License-Identifier: Apache-2.0
#include "remote/http/aws_keys.h"

#include <chrono>
#include <system_error>
#include <thread>

#include "remote/http/aws_profile.h"
#include "tfile/mutex.h"

namespace tfile {
namespace {

using WallClock = std::chrono::system_clock;  // dates of expiration are of this one

// Files are looked at as often as that of a token.
constexpr std::chrono::minutes kFilesBelieved{1};
// Keys that expire within this time are found again. Those of a role are good for 15 minutes at least.
constexpr std::chrono::minutes kRenewedBefore{5};
// The pause between two runs of a program that fails, or prints what servers refuse.
constexpr std::chrono::seconds kPauseOfProcess{10};

// The keys that all requests of the process share.
struct KeyRing {
  Mutex mutex{"KeyRing::mutex", "", "a read"};
  Condition changed;
  std::optional<AwsCredentials> credentials GUARDED_BY(mutex);
  std::string process GUARDED_BY(mutex);  // prints them
  bool is_running GUARDED_BY(mutex) = false;
  std::optional<Error> failure GUARDED_BY(mutex);  // of its last run
  std::optional<WallClock::time_point> looked_at GUARDED_BY(mutex);

  bool is_younger_than(WallClock::duration age) const REQUIRES(mutex) {
    return looked_at && WallClock::now() - *looked_at < age;
  }
};

// A thread that runs a program may outlive the end of main().
KeyRing& key_ring() {
  static KeyRing& only = *new KeyRing;
  return only;
}

// Looks at the environment and the files. What a program printed stays while the profile names this program.
void look_again(KeyRing& ring) REQUIRES(ring.mutex) {
  AwsProfile profile = aws_profile();
  const bool is_same = ring.credentials && !ring.process.empty() && ring.process == profile.credential_process;
  ring.looked_at = WallClock::now();
  ring.failure.reset();
  ring.process = std::move(profile.credential_process);
  if (is_same) return;
  ring.credentials.reset();
  if (!profile.keys.id.empty()) ring.credentials = AwsCredentials{std::move(profile.keys), {}};
}

// Runs the program of the ring, which is marked as running.
void run_process(KeyRing& ring, const std::string& process) {
  auto printed = run_credential_process(process);
  if (printed) printed->keys.region = aws_region();
  const Lock lock(ring.mutex);
  ring.is_running = false;
  ring.looked_at = WallClock::now();
  ring.changed.notify_all();
  if (ring.process != process) return;
  ring.failure = printed ? std::nullopt : std::optional(printed.error());
  if (printed) ring.credentials = std::move(*printed);
}

// Whether the program runs then.
bool run_in_background(KeyRing& ring) REQUIRES(ring.mutex) {
  if (ring.is_running) return true;
  if (ring.is_younger_than(kPauseOfProcess)) return false;
  try {
    std::thread([&ring, process = ring.process] { run_process(ring, process); }).detach();
  } catch (const std::system_error&) {
    return false;  // the next request tries again
  }
  return ring.is_running = true;
}

}  // namespace

std::string aws_region() { return aws_profile().keys.region; }

Result<std::optional<AwsKeys>> aws_keys() {
  KeyRing& ring = key_ring();
  std::string process;
  {
    const Lock lock(ring.mutex);
    while (ring.is_running && !ring.credentials) ring.changed.wait(ring.mutex);
    const bool is_printed = ring.credentials && !ring.process.empty();
    if (!is_printed && !ring.is_younger_than(ring.failure ? WallClock::duration(kPauseOfProcess) : kFilesBelieved))
      look_again(ring);
    if (ring.failure && !ring.credentials) return tl::unexpected<Error>(*ring.failure);
    if (ring.credentials) {
      const auto& expiration = ring.credentials->expiration;
      if (expiration && *expiration - WallClock::now() < kRenewedBefore) run_in_background(ring);
      return std::optional(ring.credentials->keys);
    }
    if (ring.process.empty()) return std::optional<AwsKeys>();
    process = ring.process;
    ring.is_running = true;
  }
  run_process(ring, process);
  const Lock lock(ring.mutex);
  if (ring.failure) return tl::unexpected<Error>(*ring.failure);
  return ring.credentials ? std::optional(ring.credentials->keys) : std::optional<AwsKeys>();
}

bool may_be_signed_anew(const std::optional<AwsKeys>& keys, long status) {
  // 400: the token has expired; 403: no such key, or a wrong signature; 401: servers of other makes.
  if (!keys || (status != 400 && status != 401 && status != 403)) return false;
  KeyRing& ring = key_ring();
  const Lock lock(ring.mutex);
  if (ring.credentials && ring.credentials->keys == *keys) {
    if (!ring.process.empty()) return run_in_background(ring);
    look_again(ring);
  }
  return ring.credentials && ring.credentials->keys != *keys;
}

}  // namespace tfile
