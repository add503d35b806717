// SPDX-License-Identifier: Apache-2.0
#include "staging/journal/journal_record.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include "printable.h"

namespace tfilefs {
namespace {

constexpr std::string_view kMagic = "tfilefs journal\n";
static_assert(kMagic.size() + 4 + 4 + 8 == kJournalHeadSize);
static_assert(kMagic.size() + 4 == kJournalPidOffset);
static_assert(kRecordHeaderSize == 8 + 4 + 4 + 8 + 8);

template <class T>
void store(std::byte* to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    to[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
}

template <class T>
T load(const std::byte* from) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<std::uint64_t>(from[i]) << (8 * i);
  return static_cast<T>(value);
}

class PayloadWriter {
 public:
  template <class T>
  void number(T value) {
    bytes_.resize(bytes_.size() + sizeof(T));
    store(bytes_.data() + bytes_.size() - sizeof(T), value);
  }
  void raw(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void text(std::string_view text) { block(std::as_bytes(std::span(text))); }
  void block(std::span<const std::byte> bytes) {
    number(static_cast<std::uint32_t>(bytes.size()));
    raw(bytes);
  }
  void texts(const std::vector<std::string>& all) {
    number(static_cast<std::uint32_t>(all.size()));
    for (const std::string& one : all) text(one);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Reads the output of PayloadWriter. After the first read beyond the end all reads return nothing.
class PayloadReader {
 public:
  explicit PayloadReader(std::span<const std::byte> bytes) : left_(bytes) {}
  template <class T>
  T number() {
    const auto bytes = take(sizeof(T));
    return bytes.empty() ? T{} : load<T>(bytes.data());
  }
  std::span<const std::byte> take(std::size_t size) {
    if (failed_ || size > left_.size()) {
      failed_ = true;
      return {};
    }
    const auto taken = left_.first(size);
    left_ = left_.subspan(size);
    return taken;
  }
  std::span<const std::byte> rest() { return take(left_.size()); }
  std::string text() {
    const auto bytes = take(number<std::uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::vector<std::byte> block() {
    const auto bytes = take(number<std::uint32_t>());
    return {bytes.begin(), bytes.end()};
  }
  // The number of elements that follow, of at least `smallest` bytes each.
  std::uint32_t count(std::size_t smallest) {
    const auto count = number<std::uint32_t>();
    if (count > left_.size() / smallest) failed_ = true;
    return failed_ ? 0 : count;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> all(count(sizeof(std::uint32_t)));
    for (std::string& one : all) one = text();
    return all;
  }
  void reject() { failed_ = true; }
  bool whole() const { return !failed_ && left_.empty(); }

 private:
  std::span<const std::byte> left_;
  bool failed_ = false;
};

std::string begin_of(std::span<const std::byte> bytes) {
  const auto shown = bytes.first(std::min(bytes.size(), kMagic.size()));
  return printable({reinterpret_cast<const char*>(shown.data()), shown.size()});
}

}  // namespace

std::array<std::byte, kJournalHeadSize> encode_head(const JournalHead& head) {
  std::array<std::byte, kJournalHeadSize> bytes{};
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  store(bytes.data() + kMagic.size(), head.version);
  store(bytes.data() + kJournalPidOffset, head.pid);
  store(bytes.data() + kJournalPidOffset + 4, head.salt);
  return bytes;
}

Result<JournalHead> decode_head(std::span<const std::byte> bytes) {
  if (bytes.size() < kJournalHeadSize || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return tfile::fail(ErrorKind::damaged, "not a journal: begins with '" + begin_of(bytes) + "'", 0);
  JournalHead head;
  head.version = load<std::uint32_t>(bytes.data() + kMagic.size());
  head.pid = load<std::uint32_t>(bytes.data() + kJournalPidOffset);
  head.salt = load<std::uint64_t>(bytes.data() + kJournalPidOffset + 4);
  if (head.version != kJournalVersion)
    return tfile::fail(ErrorKind::unsupported, "journal of version " + std::to_string(head.version) +
                                                   ", expected version " + std::to_string(kJournalVersion));
  return head;
}

bool may_have_begun(std::span<const std::byte> bytes) {
  const std::span<const std::byte> magic = std::as_bytes(std::span(kMagic));
  const std::span<const std::byte> begin = bytes.first(std::min(bytes.size(), magic.size()));
  const bool is_zero = std::ranges::all_of(begin, [](std::byte b) { return b == std::byte{0}; });
  return is_zero || std::ranges::equal(begin, magic.first(begin.size()));
}

std::array<std::byte, kRecordHeaderSize> encode_record_header(const RecordHeader& header) {
  std::array<std::byte, kRecordHeaderSize> bytes{};
  store(bytes.data(), header.checksum);
  store(bytes.data() + 8, header.length);
  store(bytes.data() + 12, static_cast<std::uint32_t>(header.kind));
  store(bytes.data() + 16, header.id);
  store(bytes.data() + 24, header.offset);
  return bytes;
}

RecordHeader decode_record_header(std::span<const std::byte, kRecordHeaderSize> bytes) {
  RecordHeader header;
  header.checksum = load<std::uint64_t>(bytes.data());
  header.length = load<std::uint32_t>(bytes.data() + 8);
  header.kind = static_cast<JournalKind>(load<std::uint32_t>(bytes.data() + 12));
  header.id = load<std::uint64_t>(bytes.data() + 16);
  header.offset = load<std::uint64_t>(bytes.data() + 24);
  return header;
}

RecordChecksum::RecordChecksum(const RecordHeader& header, std::uint64_t seed) : state_(XXH64_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH64_reset(state_, seed);
  const auto bytes = encode_record_header(header);
  XXH64_update(state_, bytes.data() + 8, bytes.size() - 8);
}

RecordChecksum::~RecordChecksum() { XXH64_freeState(state_); }

void RecordChecksum::add(std::span<const std::byte> payload) {
  if (!payload.empty()) XXH64_update(state_, payload.data(), payload.size());
}

std::uint64_t RecordChecksum::value() const { return XXH64_digest(state_); }

namespace {

void put_intention(PayloadWriter& out, const Intention& intention) {
  out.block(intention.before);
  out.block(intention.after);
  out.number(static_cast<std::uint32_t>(intention.switches.size()));
  for (const Intention::Patch& patch : intention.switches) {
    out.number(patch.offset);
    out.block(patch.bytes);
  }
  out.number(static_cast<std::uint32_t>(intention.columns.size()));
  for (const Intention::Column& column : intention.columns) {
    out.number(column.id);
    out.number(column.bytes);
  }
  out.texts(intention.tables);
  out.texts(intention.directories);
  out.texts(intention.gone);
}

JournalRecord without_payload(const RecordHeader& header) {
  JournalRecord record;
  record.kind = header.kind;
  record.id = header.id;
  record.offset = header.offset;
  return record;
}

StagedKind take_file_kind(PayloadReader& in) {
  const auto kind = in.number<std::uint8_t>();
  if (kind < 1 || kind > 5) in.reject();
  return static_cast<StagedKind>(kind);
}

tl::unexpected<Error> makes_no_sense(JournalKind kind) {
  const std::string number = std::to_string(static_cast<std::uint32_t>(kind));
  return tfile::fail(ErrorKind::damaged, "journal record of kind " + number + " is malformed");
}

Intention take_intention(PayloadReader& in) {
  Intention intention;
  intention.before = in.block();
  intention.after = in.block();
  intention.switches.resize(in.count(sizeof(std::uint64_t) + sizeof(std::uint32_t)));
  for (Intention::Patch& patch : intention.switches) {
    patch.offset = in.number<std::uint64_t>();
    patch.bytes = in.block();
  }
  intention.columns.resize(in.count(2 * sizeof(std::uint64_t)));
  for (Intention::Column& column : intention.columns) {
    column.id = in.number<std::uint64_t>();
    column.bytes = in.number<std::uint64_t>();
  }
  intention.tables = in.texts();
  intention.directories = in.texts();
  intention.gone = in.texts();
  return intention;
}

}  // namespace

std::vector<std::byte> encode_payload(const JournalRecord& record) {
  PayloadWriter out;
  switch (record.kind) {
    case JournalKind::begin:
      out.block(record.bytes);
      break;
    case JournalKind::intend:
      put_intention(out, record.intention);
      break;
    case JournalKind::create:
      out.number(static_cast<std::uint8_t>(record.file_kind));
      out.text(record.text);
      break;
    case JournalKind::rename:
      out.text(record.from);
      out.text(record.text);
      break;
    case JournalKind::title:
    case JournalKind::encoding:
    case JournalKind::class_name:
    case JournalKind::whiteout:
      out.text(record.text);
      break;
    case JournalKind::remove:
      if (record.id == 0) out.text(record.text);
      break;
    case JournalKind::date:
      out.number(record.size);
      break;
    case JournalKind::data:
    case JournalKind::truncate:
    case JournalKind::done:
      break;
  }
  return out.take();
}

Result<JournalRecord> decode_payload(const RecordHeader& header, std::span<const std::byte> payload) {
  PayloadReader in(payload);
  JournalRecord record = without_payload(header);
  if (header.kind == JournalKind::create) record.file_kind = take_file_kind(in);
  if (header.kind == JournalKind::rename) record.from = in.text();
  switch (header.kind) {
    case JournalKind::begin:
      record.bytes = in.block();
      break;
    case JournalKind::intend:
      record.intention = take_intention(in);
      break;
    case JournalKind::data:
      in.rest();
      break;
    case JournalKind::date:
      record.size = in.number<std::uint64_t>();
      break;
    case JournalKind::remove:
      if (header.id != 0) break;
      [[fallthrough]];
    case JournalKind::create:
    case JournalKind::rename:
    case JournalKind::title:
    case JournalKind::encoding:
    case JournalKind::class_name:
    case JournalKind::whiteout:
      record.text = in.text();
      break;
    case JournalKind::truncate:
    case JournalKind::done:
      break;
    default:
      in.reject();
  }
  return in.whole() ? Result<JournalRecord>(std::move(record)) : makes_no_sense(header.kind);
}

// UUID, fEND and head, as bytes of the record.
constexpr std::size_t kBeginSize = sizeof(JournalBegin::file_uuid) + sizeof(JournalBegin::file_end);

JournalRecord begin_record(const JournalBegin& begin) {
  JournalRecord record;
  record.kind = JournalKind::begin;
  record.bytes.resize(kBeginSize);
  std::memcpy(record.bytes.data(), begin.file_uuid.data(), begin.file_uuid.size());
  store(record.bytes.data() + begin.file_uuid.size(), begin.file_end);
  record.bytes.insert(record.bytes.end(), begin.head.begin(), begin.head.end());
  return record;
}

Result<JournalBegin> begin_of(const JournalRecord& record) {
  JournalBegin begin;
  if (record.kind != JournalKind::begin || record.bytes.size() < kBeginSize)
    return tfile::fail(ErrorKind::damaged, "journal does not name the file it belongs to: record of kind " +
                                               std::to_string(static_cast<int>(record.kind)) + " with " +
                                               std::to_string(record.bytes.size()) + " bytes, expected " +
                                               std::to_string(kBeginSize));
  std::memcpy(begin.file_uuid.data(), record.bytes.data(), begin.file_uuid.size());
  begin.file_end = load<std::int64_t>(record.bytes.data() + begin.file_uuid.size());
  begin.head.assign(record.bytes.begin() + kBeginSize, record.bytes.end());
  return begin;
}

}  // namespace tfilefs
