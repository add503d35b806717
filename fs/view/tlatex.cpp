// SPDX-License-Identifier: Apache-2.0
#include "view/tlatex.h"

#include <cctype>
#include <cstdlib>
#include <utility>

#include "json/json_text.h"

namespace tfilefs {
namespace {

// A title on a plot is short; one that is not was made to cost time.
constexpr std::size_t kTitleMax = 400;
constexpr int kNestingMax = 8;

constexpr std::pair<std::string_view, std::string_view> kSigns[] = {
    {"alpha", "α"},      {"beta", "β"},       {"gamma", "γ"},
    {"delta", "δ"},      {"epsilon", "ε"},    {"varepsilon", "ε"},
    {"zeta", "ζ"},       {"eta", "η"},        {"theta", "θ"},
    {"vartheta", "ϑ"},   {"iota", "ι"},       {"kappa", "κ"},
    {"lambda", "λ"},     {"mu", "μ"},         {"nu", "ν"},
    {"xi", "ξ"},         {"omicron", "ο"},    {"pi", "π"},
    {"rho", "ρ"},        {"sigma", "σ"},      {"tau", "τ"},
    {"upsilon", "υ"},    {"phi", "φ"},        {"varphi", "φ"},
    {"chi", "χ"},        {"psi", "ψ"},        {"omega", "ω"},
    {"Gamma", "Γ"},      {"Delta", "Δ"},      {"Theta", "Θ"},
    {"Lambda", "Λ"},     {"Xi", "Ξ"},         {"Pi", "Π"},
    {"Sigma", "Σ"},      {"Upsilon", "Υ"},    {"Phi", "Φ"},
    {"Psi", "Ψ"},        {"Omega", "Ω"},      {"Alpha", "Α"},
    {"Beta", "Β"},       {"Epsilon", "Ε"},    {"Zeta", "Ζ"},
    {"Eta", "Η"},        {"Tau", "Τ"},        {"Rho", "Ρ"},
    {"Chi", "Χ"},        {"Kappa", "Κ"},      {"Mu", "Μ"},
    {"Nu", "Ν"},         {"Iota", "Ι"},       {"pm", "±"},
    {"times", "×"},      {"div", "÷"},        {"leq", "≤"},
    {"geq", "≥"},        {"neq", "≠"},        {"approx", "≈"},
    {"sim", "∼"},        {"equiv", "≡"},      {"propto", "∝"},
    {"infty", "∞"},      {"rightarrow", "→"}, {"leftarrow", "←"},
    {"uparrow", "↑"},    {"downarrow", "↓"},  {"leftrightarrow", "↔"},
    {"Rightarrow", "⇒"}, {"cdot", "⋅"},       {"upoint", "⋅"},
    {"circ", "°"},       {"degree", "°"},     {"sum", "∑"},
    {"int", "∫"},        {"partial", "∂"},    {"nabla", "∇"},
    {"sqrt", "√"},       {"in", "∈"},         {"perp", "⊥"},
    {"parallel", "∥"},   {"void8", "∣"},      {"hbar", "ħ"},
    {"ell", "ℓ"},        {"prime", "′"},      {"odot", "⊙"},
    {"oplus", "⊕"},      {"otimes", "⊗"},     {"bullet", "•"},
    {"angle", "∠"},      {"AA", "Å"},         {"Box", "□"},
    {"ast", "∗"}};

// Words before a group that change its looks, which is left as it is; some take [x] first.
constexpr std::string_view kLooks[] = {"it",   "bf",   "font",  "color",     "scale",    "kern",     "lower",
                                       "mbox", "left", "right", "splitline", "frac",     "hat",      "tilde",
                                       "vec",  "dot",  "ddot",  "bar",       "overline", "underline"};

class TLatexWriter {
 public:
  TLatexWriter(std::string& svg, std::string_view text) : svg_(svg), text_(text.substr(0, kTitleMax)) {}

  void write() {
    while (at_ < text_.size()) step(0);
    if (is_open_) svg_ += "</tspan>";
  }

 private:
  // Raised (> 0) or lowered text; `dy` of a span counts from the one before it.
  void shift(int level) {
    if (level == level_) return;
    if (is_open_) svg_ += "</tspan>";
    const int rise = level - level_;
    // An em is that of the span's own size: a small one on the way there, a large one on the way back.
    const char* way = level == 0 ? ".25" : std::abs(rise) > 1 ? ".7" : ".35";
    svg_ += "<tspan dy=\"" + std::string(rise > 0 ? "-" : "") + way + "em\"";
    svg_ += level == 0 ? ">" : " font-size=\"72%\">";
    is_open_ = true;
    level_ = level;
  }

  void step(int level) {
    const char c = text_[at_];
    if (c == '#' && at_ + 1 < text_.size()) return command(level);
    if ((c == '^' || c == '_') && at_ + 1 < text_.size()) {
      ++at_;
      return group(level != 0 ? level : c == '^' ? 1 : -1);
    }
    if (c == '{' || c == '}') {
      if (c == '{') return group(level);
      ++at_;
      return;
    }
    character(level);
  }

  // What stands in braces, or one character.
  void group(int level) {
    if (text_[at_] != '{' || ++nesting_ > kNestingMax) {
      if (text_[at_] == '#')
        command(level);
      else
        character(level);
      return;
    }
    ++at_;
    while (at_ < text_.size() && text_[at_] != '}') step(level);
    if (at_ < text_.size()) ++at_;
    --nesting_;
  }

  void command(int level) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && std::isalpha(static_cast<unsigned char>(text_[end]))) ++end;
    const std::string_view word = text_.substr(at_ + 1, end - at_ - 1);
    // The longest word that is known: "#mum" is not, "#mu" is.
    for (std::size_t size = word.size(); size > 0; --size) {
      const std::string_view name = word.substr(0, size);
      for (const auto& [sign, text] : kSigns) {
        if (sign != name) continue;
        at_ += 1 + size;
        shift(level);
        svg_ += text;
        return;
      }
      for (const std::string_view look : kLooks) {
        if (look != name) continue;
        at_ += 1 + size;
        if (at_ < text_.size() && text_[at_] == '[' && name != "left" && name != "right") {
          const auto close = text_.find(']', at_);
          at_ = close == text_.npos ? text_.size() : close + 1;
        }
        return;
      }
    }
    character(level);
  }

  void character(int level) {
    shift(level);
    const std::string_view rest = text_.substr(at_);
    const std::size_t length = utf8_length(rest);
    const auto c = static_cast<unsigned char>(rest[0]);
    at_ += length == 0 ? 1 : length;
    // U+FFFE and U+FFFF are no characters in XML either.
    const bool is_none = length == 3 && (rest.substr(0, 3) == "\xEF\xBF\xBE" || rest.substr(0, 3) == "\xEF\xBF\xBF");
    if (length == 0 || (c < 0x20 && c != '\t' && c != '\n') || is_none)
      svg_ += "\uFFFD";
    else if (c == '<')
      svg_ += "&lt;";
    else if (c == '>')
      svg_ += "&gt;";
    else if (c == '&')
      svg_ += "&amp;";
    else if (c == '"')
      svg_ += "&quot;";
    else
      svg_ += rest.substr(0, length);
  }

  std::string& svg_;
  const std::string_view text_;
  std::size_t at_ = 0;
  int level_ = 0, nesting_ = 0;
  bool is_open_ = false;
};

}  // namespace

void append_tlatex(std::string& svg, std::string_view tlatex) { TLatexWriter(svg, tlatex).write(); }

}  // namespace tfilefs
