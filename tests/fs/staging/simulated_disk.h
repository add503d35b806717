// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "descriptor.h"
#include "fs/staging/faults.h"

namespace tfilefs {

// The disk beneath one directory of the host, as docs/reliability.md assumes it: what was synced stays, of the rest any
// sector may be in any of its states since then, and names change in their order. While this exists, calls of this
// program that change files or names go through it. Thread-safe.
class SimulatedDisk final : public faults::Disk {
 public:
  using Random = std::mt19937_64;
  SimulatedDisk(std::filesystem::path directory, Random::result_type seed);
  ~SimulatedDisk() override { faults::disk = nullptr; }
  SimulatedDisk(const SimulatedDisk&) = delete;
  SimulatedDisk& operator=(const SimulatedDisk&) = delete;

  // Nothing happens any more from the so-manieth call on; 1: the next one. A write may then happen in part.
  void stop_in(std::uint64_t calls);
  bool has_stopped() const;
  // The so-manieth call fails with this number of errno, and those after it until mend() if it `lasts`: a full disk
  // takes no new bytes and names, another fault concerns all calls.
  void fail_in(std::uint64_t calls, int number, bool lasts);
  // Whether a call has failed.
  bool mend();
  std::uint64_t calls() const;  // so far

  // Writes what is left into another directory, when the process has ended, or the machine as well.
  enum class Ending : std::uint8_t { process, machine };
  void leave(const std::filesystem::path& into, Ending);

  long call(const faults::DiskCall&, const std::function<long()>& make) override;

 private:
  struct Event {
    std::uint64_t offset = 0;  // of a cut: the new size
    std::optional<std::string> bytes;
  };
  struct Tracked {
    Descriptor file;
    std::string synced;
    std::vector<Event> since;
    bool had_name = false;
  };
  using Names = std::map<std::string, ino_t>;

  Tracked* tracked(int file);
  bool is_failing(faults::DiskCall::Kind) const;
  long stop(const faults::DiskCall&);
  void note(const faults::DiskCall&, long result);
  void note_write(const faults::DiskCall&, std::uint64_t size);
  void note_names();
  void note_sync(int file);
  std::string after_power_cut(const Tracked&);
  std::vector<std::string> states(const Tracked&);
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  const std::filesystem::path directory_;
  mutable std::mutex mutex_;
  Random random_;
  std::map<ino_t, Tracked> files_;
  std::vector<Names> names_;  // that of the last sync, and those since
  std::uint64_t calls_ = 0;
  std::uint64_t stop_at_ = UINT64_MAX, fail_at_ = UINT64_MAX;
  int number_ = 0;
  bool lasts_ = false, failed_ = false, stopped_ = false;
};

}  // namespace tfilefs
