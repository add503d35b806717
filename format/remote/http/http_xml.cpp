// SPDX-License-Identifier: Apache-2.0
#include "remote/http/http_xml.h"

#include <expat.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace tfile {
namespace {

// Lists of directories nest five elements. A path of 4,096 bytes takes 12,288 when all of it is percent-encoded.
constexpr std::size_t kDepthMax = 32, kTextMax = 16 << 10;
// The parser keeps a tag until it is complete, so no tag is taken that is longer.
constexpr std::size_t kTagMax = 256 << 10;
// The parser takes so much at once.
constexpr std::size_t kPieceMax = 64 << 10;
// The parser parts a namespace from a name with it; a newline occurs in neither.
constexpr char kSeparator = '\n';

}  // namespace

struct XmlReader::State {
  OnElement on_element;
  XML_Parser parser = XML_ParserCreateNS(nullptr, kSeparator);
  std::vector<std::string> path, texts;
  std::size_t without_event = 0;  // bytes since the parser last told of anything
  std::optional<Error> error;

  ~State() { XML_ParserFree(parser); }
  static State& of(void* data) { return *static_cast<State*>(data); }

  void stop(Error found) {
    error = std::move(found);
    XML_StopParser(parser, XML_FALSE);
  }
  void refuse(const std::string& found) { stop({ErrorKind::damaged, "the server's XML " + found, -1, 0}); }

  // As Expat says it, with the place.
  void refuse_malformed() {
    refuse(std::string("is malformed: ") + XML_ErrorString(XML_GetErrorCode(parser)) + " in line " +
           std::to_string(XML_GetCurrentLineNumber(parser)));
  }

  void begin(std::string_view name) {
    without_event = 0;
    if (path.size() == kDepthMax) return refuse("is nested deeper than " + std::to_string(kDepthMax));
    path.emplace_back(name.substr(name.rfind(kSeparator) + 1));
    texts.emplace_back();
  }
  // The parser may finish the tag at which it was stopped.
  void add(std::string_view text) {
    without_event = 0;
    if (error || texts.empty()) return;
    if (texts.back().size() + text.size() > kTextMax)
      return refuse("has a text of more than " + std::to_string(kTextMax) + " bytes");
    texts.back().append(text);
  }
  void end() {
    without_event = 0;
    if (error) return;
    if (auto taken = on_element(path, texts.back()); !taken) return stop(std::move(taken).error());
    path.pop_back();
    texts.pop_back();
  }
};

XmlReader::XmlReader(OnElement on_element) : state_(std::make_unique<State>()) {
  state_->on_element = std::move(on_element);
  const XML_Parser parser = state_->parser;
  XML_SetUserData(parser, state_.get());
  XML_SetElementHandler(
      parser, [](void* data, const XML_Char* name, const XML_Char**) { State::of(data).begin(name); },
      [](void* data, const XML_Char*) { State::of(data).end(); });
  XML_SetCharacterDataHandler(parser, [](void* data, const XML_Char* text, int size) {
    State::of(data).add({text, static_cast<std::size_t>(size)});
  });
  XML_SetDefaultHandler(parser, [](void* data, const XML_Char*, int) { State::of(data).without_event = 0; });
  XML_SetStartDoctypeDeclHandler(parser, [](void* data, const XML_Char*, const XML_Char*, const XML_Char*, int) {
    State::of(data).refuse("has a document type");
  });
}

XmlReader::~XmlReader() = default;
XmlReader::XmlReader(XmlReader&&) noexcept = default;
XmlReader& XmlReader::operator=(XmlReader&&) noexcept = default;

Result<> XmlReader::feed(std::span<const std::byte> bytes) {
  State& state = *state_;
  while (!state.error && !bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), kPieceMax);
    state.without_event += size;
    const auto* const text = reinterpret_cast<const char*>(bytes.data());
    const bool is_good = XML_Parse(state.parser, text, static_cast<int>(size), XML_FALSE) == XML_STATUS_OK;
    if (!is_good && !state.error) state.refuse_malformed();
    if (state.without_event > kTagMax && !state.error)
      state.refuse("has a tag of more than " + std::to_string(kTagMax) + " bytes");
    bytes = bytes.subspan(size);
  }
  if (state.error) return tl::unexpected<Error>(*state.error);
  return {};
}

Result<> XmlReader::finish() {
  State& state = *state_;
  if (!state.error && XML_Parse(state.parser, "", 0, XML_TRUE) != XML_STATUS_OK && !state.error)
    state.refuse_malformed();
  if (state.error) return tl::unexpected<Error>(*state.error);
  return {};
}

bool is(std::span<const std::string> path, std::initializer_list<std::string_view> wanted) {
  return std::ranges::equal(path, wanted);
}

std::uint64_t number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  return error == std::errc() && end == text.end() ? value : 0;
}

}  // namespace tfile
