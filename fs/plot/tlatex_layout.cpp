// SPDX-License-Identifier: Apache-2.0
#include "plot/tlatex_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "markup.h"
#include "plot/svg_text.h"
#include "plot/tlatex_signs.h"

namespace tfilefs {
namespace {

// A title on a plot is short; a long one was made to waste time.
constexpr std::size_t kLabelMax = 1000;
constexpr int kNestingMax = 20;

// Sizes of letters, in ems: how far they reach above and below the base line, and where bars through them lie.
constexpr double kUp = 0.74, kDown = 0.21, kMiddle = 0.27;
// As in ROOT an index is smaller by 1.5, down to three levels.
constexpr double kIndexSize = 0.68, kSmallest = 0.3;
constexpr double kStroke = 0.05;
// Beside the bar of a fraction, and behind one over letters or an arrow: a minus, or the next one, is not part of it.
constexpr double kBesideFraction = 0.12, kBehindBar = 0.06, kBehindArrow = 0.1;
// No font is so narrow that letters take less of the room that they are given.
constexpr double kLetterLeast = 0.85;

using Points = std::vector<std::pair<double, double>>;

struct Looks {
  bool italic = false, bold = false;
  std::string_view colour;
};

constexpr std::string_view kColours[] = {"#ffffff", "#000000", "#ff0000", "#00ff00", "#0000ff",
                                         "#ffff00", "#ff00ff", "#00ffff", "#59d354", "#5954d8"};

bool has_equal_looks(const TextPiece& a, const TextPiece& b) {
  return a.y == b.y && a.size == b.size && a.italic == b.italic && a.bold == b.bold && a.colour == b.colour;
}

// Runs of `part` keep their order, and are behind those of the row.
void put(TextLayout& row, TextLayout part, double x, double y) {
  for (LetterRun& run : part.runs) {
    run.x += x;
    for (TextPiece& piece : run.pieces) piece.y += y;
    row.runs.push_back(std::move(run));
  }
  for (TextStroke& stroke : part.strokes) {
    for (auto& [at_x, at_y] : stroke.points) at_x += x, at_y += y;
    row.strokes.push_back(std::move(stroke));
  }
  row.up = std::max(row.up, part.up - y);
  row.down = std::max(row.down, part.down + y);
}

void add_pieces(LetterRun& run, std::vector<TextPiece> more, double y) {
  for (TextPiece& piece : more) {
    piece.y += y;
    if (!run.pieces.empty() && piece.dx == 0 && has_equal_looks(run.pieces.back(), piece))
      run.pieces.back().escaped += piece.escaped;
    else
      run.pieces.push_back(std::move(piece));
  }
}

void append(TextLayout& row, TextLayout part) {
  const bool is_first = row.runs.empty() && row.strokes.empty() && row.width == 0;
  const double at = row.width, width = part.width;
  if (part.runs.empty() && part.strokes.empty() && width == 0) return;
  const bool begins_open = part.begins_open, ends_open = part.ends_open;
  if (row.ends_open && begins_open) {
    LetterRun first = std::move(part.runs.front());
    part.runs.erase(part.runs.begin());
    add_pieces(row.runs.back(), std::move(first.pieces), 0);
    row.runs.back().width += first.width;
    row.runs.back().bound_right = first.bound_right;
  } else {
    if (row.ends_open) row.runs.back().bound_right = true;
    if (begins_open && !is_first) part.runs.front().bound_left = true;
    if (is_first) row.begins_open = begins_open;
  }
  put(row, std::move(part), at, 0);
  row.ends_open = ends_open;
  row.width = at + width;
}

// Places the part in the middle of so much room.
void put_centred(TextLayout& row, TextLayout part, double left, double room, double y) {
  if (part.is_one_run()) {
    part.runs[0].bound_left = part.runs[0].bound_right = true;
    part.runs[0].width = part.width = room;
  }
  const double width = part.width;
  put(row, std::move(part), left + (room - width) / 2, y);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text.substr(0, kLabelMax)) {}
  TextLayout parse();

 private:
  bool sees(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool take(std::string_view what);

  // Until the end, or a closing brace, which is not consumed.
  TextLayout row(double size, const Looks& looks);
  void append_letters(TextLayout& row, TextLayout& last, double size, const Looks& looks);
  void character(std::string& letters, double& width);
  static TextLayout run(std::string escaped, double width, double size, const Looks& looks);

  // The text in braces at this place; empty if there are none.
  TextLayout group(double size, const Looks& looks);
  // The same where no command takes it: ROOT shows the braces then, as in the titles that TTree::Draw makes.
  TextLayout shown_group(double size, const Looks& looks);
  void skip_group();

  // Superscripts and subscripts behind `base`, one above the other; for sums and integrals above and below it.
  void scripts(TextLayout& base, double size, const Looks& looks, bool limits);
  static void add_scripts(TextLayout& base, TextLayout above, double above_y, TextLayout below, double below_y,
                          double gap);
  static void add_script(LetterRun& run, TextLayout script, double y, double dx);
  TextLayout element(double size, const Looks& looks);

  // --- commands with arguments ---

  std::optional<TextLayout> structure(double size, const Looks& looks);
  TextLayout fraction(double size, const Looks& looks);
  TextLayout root(double size, const Looks& looks);
  std::optional<TextLayout> accent(double size, const Looks& looks);
  static void draw_accent(std::string_view name, TextLayout& base, double size);
  std::optional<TextLayout> styled(double size, Looks looks);

  // By parts of its width, and of its height.
  static TextLayout moved_by(TextLayout inner, double kern, double lower);

  // Fonts are numbered in tens: 1 and 5 are slanted, 2 and 6 bold, 3 and 7 both (TAttText).
  static void set_font(Looks& looks, double number);

  // --- delimiters as high as the text between them ---

  std::optional<TextLayout> delimited(double size, const Looks& looks);
  static TextLayout enclosed(TextLayout inner, char begin, char end, double size);

  // --- arguments ---

  // The text in [ ] at this place.
  std::optional<std::string_view> bracket();
  double bracket_number();
  static std::string escaped(std::string_view text);

  // --- one character ---

  // The longest known word: "#mum" is none, "#mu" is. If there is none, the # is a letter.
  TextLayout sign(double size, const Looks& looks);
  static TextLayout big_sign(std::string_view character, double size, const Looks& looks);

  const std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0, closers_ = 0;
};

TextLayout Parser::parse() {
  TextLayout all;
  // A closing brace without an opening one ends a row.
  while (at_ < text_.size()) {
    append(all, row(1, {}));
    if (take("}")) append(all, run("}", text_width("}"), 1, {}));
  }
  return all;
}

bool Parser::take(std::string_view what) {
  if (!sees(what)) return false;
  at_ += what.size();
  return true;
}

TextLayout Parser::row(double size, const Looks& looks) {
  TextLayout row;
  TextLayout last;  // the base of an index that follows
  bool limits = false;
  while (at_ < text_.size() && text_[at_] != '}') {
    if (sees("^{") || sees("_{")) {
      scripts(last, size, looks, std::exchange(limits, false));
      append(row, std::exchange(last, {}));
    } else if (sees("#right") && closers_ > 0 && !sees("#rightarrow")) {
      break;
    } else if (sees("#") || sees("{")) {
      append(row, std::exchange(last, {}));
      limits = sees("#sum") || sees("#int") || sees("#prod");
      last = element(size, looks);
    } else {
      limits = false;
      // Letters stay together; only the last is separate if an index follows.
      append_letters(row, last, size, looks);
    }
  }
  append(row, std::move(last));
  return row;
}

void Parser::append_letters(TextLayout& row, TextLayout& last, double size, const Looks& looks) {
  append(row, std::exchange(last, {}));
  std::string letters;
  double width = 0;
  while (at_ < text_.size() && text_[at_] != '{' && text_[at_] != '}' && !sees("#") && !sees("^{") && !sees("_{"))
    character(letters, width);
  last = letters.empty() ? TextLayout() : run(std::move(letters), width, size, looks);
}

void Parser::character(std::string& letters, double& width) {
  // A brace behind an @ is a letter.
  if (text_[at_] == '@' && at_ + 1 < text_.size() && std::string_view("{}[]").find(text_[at_ + 1]) != std::string::npos)
    ++at_;
  const std::size_t length = append_markup_character(letters, text_.substr(at_));
  width += text_width(text_.substr(at_, length));
  at_ += length;
}

TextLayout Parser::run(std::string escaped, double width, double size, const Looks& looks) {
  TextLayout made;
  made.width = width * size * (looks.bold ? 1.12 : 1);  // bold letters are this much wider on average
  made.runs.push_back({0, made.width, false, false, {}});
  made.runs[0].pieces.push_back({0, 0, size, std::move(escaped), looks.italic, looks.bold, looks.colour});
  made.up = kUp * size;
  made.down = kDown * size;
  made.begins_open = made.ends_open = true;
  return made;
}

TextLayout Parser::group(double size, const Looks& looks) {
  if (!take("{")) return {};
  TextLayout inner;
  if (++nesting_ <= kNestingMax)
    inner = row(size, looks);
  else
    skip_group();
  --nesting_;
  take("}");
  return inner;
}

TextLayout Parser::shown_group(double size, const Looks& looks) {
  TextLayout all = run("{", text_width("{"), size, looks);
  const std::size_t begin = at_;
  append(all, group(size, looks));
  if (at_ > begin + 1 && text_[at_ - 1] == '}') append(all, run("}", text_width("}"), size, looks));
  return all;
}

void Parser::skip_group() {
  for (int open = 1; at_ < text_.size(); ++at_) {
    open += text_[at_] == '{' ? 1 : text_[at_] == '}' ? -1 : 0;
    if (open == 0) return;
  }
}

void Parser::scripts(TextLayout& base, double size, const Looks& looks, bool limits) {
  const double small = std::max(size * kIndexSize, std::min(size, kSmallest));
  TextLayout above, below;
  bool has_above = false, has_below = false;
  while ((sees("^{") && !has_above) || (sees("_{") && !has_below)) {
    const bool is_above = text_[at_++] == '^';
    (is_above ? has_above : has_below) = true;
    (is_above ? above : below) = group(small, looks);
  }
  const double up = base.up == 0 ? kUp * size : base.up, down = base.down == 0 ? kDown * size : base.down;
  if (limits) {
    const double width = std::max({base.width, above.width, below.width});
    TextLayout whole;
    put_centred(whole, std::move(base), 0, width, 0);
    put_centred(whole, std::move(above), 0, width, -up - above.down);
    put_centred(whole, std::move(below), 0, width, down + below.up);
    whole.width = width;
    base = std::move(whole);
    return;
  }
  // A part that reaches further than letters, as a fraction does, keeps its distance from the base line and the other.
  const double deeper = std::max(0.0, above.down - kDown * small), higher = std::max(0.0, below.up - kUp * small);
  const double above_y = -std::max(up - 0.38 * size, 0.3 * size) - (has_below ? 0.06 * size : 0) - deeper;
  const double below_y = std::max(down - 0.03 * size, 0.12 * size) + (has_above ? 0.05 * size : 0) + higher;
  add_scripts(base, std::move(above), above_y, std::move(below), below_y, 0.03 * size);
}

void Parser::add_scripts(TextLayout& base, TextLayout above, double above_y, TextLayout below, double below_y,
                         double gap) {
  const auto may_follow = [](const TextLayout& part) { return part.runs.empty() || part.is_one_run(); };
  const bool is_empty = base.runs.empty() && base.strokes.empty();
  if ((base.ends_open || is_empty) && may_follow(above) && may_follow(below)) {
    if (is_empty) base.runs.emplace_back(), base.begins_open = base.ends_open = true;
    LetterRun& run = base.runs.back();
    const double wider = std::max(above.width, below.width), narrower = std::min(above.width, below.width);
    base.up = std::max(base.up, above.up - above_y);
    base.down = std::max(base.down, below.down + below_y);
    // The narrower one comes first: what is not known of its width moves the other one.
    const bool above_first = !above.runs.empty() && (below.runs.empty() || above.width <= below.width);
    TextLayout& first = above_first ? above : below;
    TextLayout& second = above_first ? below : above;
    add_script(run, std::move(first), above_first ? above_y : below_y, gap);
    add_script(run, std::move(second), above_first ? below_y : above_y, -kLetterLeast * narrower);
    run.width += gap + wider;
    base.width += gap + wider;
    return;
  }
  const double at = base.width + gap, wider = std::max(above.width, below.width);
  if (base.ends_open) base.runs.back().bound_right = true;
  base.ends_open = false;
  put(base, std::move(above), at, above_y);
  put(base, std::move(below), at, below_y);
  base.width = at + wider;
}

void Parser::add_script(LetterRun& run, TextLayout script, double y, double dx) {
  if (script.runs.empty() || script.runs[0].pieces.empty()) return;
  script.runs[0].pieces[0].dx += dx;
  add_pieces(run, std::move(script.runs[0].pieces), y);
}

TextLayout Parser::element(double size, const Looks& looks) {
  if (sees("{")) return shown_group(size, looks);
  if (auto made = delimited(size, looks)) return *std::move(made);
  if (auto made = structure(size, looks)) return *std::move(made);
  if (auto made = accent(size, looks)) return *std::move(made);
  if (auto made = styled(size, looks)) return *std::move(made);
  return sign(size, looks);
}

std::optional<TextLayout> Parser::structure(double size, const Looks& looks) {
  if (sees("#frac{")) {
    at_ += 5;
    return fraction(size, looks);
  }
  if (sees("#splitline{")) {
    at_ += 10;
    TextLayout upper = group(size, looks), lower = group(size, looks), both;
    both.width = std::max(upper.width, lower.width);
    put(both, std::move(upper), 0, -0.3 * size - upper.down);
    put(both, std::move(lower), 0, -0.2 * size + lower.up);
    return both;
  }
  if (sees("#sqrt{") || sees("#sqrt[")) {
    at_ += 5;
    return root(size, looks);
  }
  return std::nullopt;
}

TextLayout Parser::fraction(double size, const Looks& looks) {
  const double part_size = std::max(size * 0.85, std::min(size, kSmallest));
  TextLayout upper = group(part_size, looks), lower = group(part_size, looks), both;
  const double width = std::max(upper.width, lower.width) + 0.1 * size, gap = 0.08 * size;
  const double above = -kMiddle * size - gap - upper.down, below = -kMiddle * size + gap + lower.up;
  const double left = kBesideFraction * size;
  put_centred(both, std::move(upper), left, width, above);
  put_centred(both, std::move(lower), left, width, below);
  both.strokes.push_back({{{left, -kMiddle * size}, {left + width, -kMiddle * size}}, kStroke * size});
  both.width = width + 2 * left;
  return both;
}

TextLayout Parser::root(double size, const Looks& looks) {
  TextLayout degree;
  if (const auto argument = bracket()) degree = run(escaped(*argument), text_width(*argument), size * 0.55, looks);
  TextLayout inner = group(size, looks), made;
  const double up = std::max(inner.up, kUp * size) + 0.08 * size, down = std::max(inner.down, 0.1 * size);
  const double begin = std::max(degree.width - 0.15 * size, 0.0), left = begin + 0.5 * size;
  put(made, std::move(degree), 0, -0.45 * size);
  const double width = inner.width;
  put_centred(made, std::move(inner), left, width, 0);
  made.strokes.push_back({{{begin + 0.02 * size, -0.3 * size},
                           {begin + 0.14 * size, -0.38 * size},
                           {begin + 0.28 * size, down - 0.04 * size},
                           {left - 0.04 * size, -up},
                           {left + width + 0.04 * size, -up}},
                          kStroke * size});
  made.width = left + width + 0.1 * size;
  made.up = std::max(made.up, up + 0.05 * size);
  return made;
}

std::optional<TextLayout> Parser::accent(double size, const Looks& looks) {
  static constexpr std::string_view kAccents[] = {"bar",   "vec",   "dot",   "hat",    "ddot",     "acute",    "grave",
                                                  "check", "tilde", "slash", "strike", "overline", "underline"};
  for (const std::string_view name : kAccents) {
    if (!sees("#" + std::string(name) + "{")) continue;
    at_ += 1 + name.size();
    TextLayout inner = group(size, looks), base;
    base.width = inner.width;
    put_centred(base, std::move(inner), 0, base.width, 0);
    draw_accent(name, base, size);
    return base;
  }
  return std::nullopt;
}

void Parser::draw_accent(std::string_view name, TextLayout& base, double size) {
  const double s = size, top = -std::max(base.up, kUp * s) - 0.04 * s, middle = base.width / 2;
  const auto line = [&](Points points) { base.strokes.push_back({std::move(points), kStroke * s}); };
  if (name == "slash") return line({{0.05 * s, 0.1 * s}, {base.width - 0.05 * s, -0.78 * s}});
  if (name == "strike") return line({{0, -kMiddle * s}, {base.width, -kMiddle * s}});
  if (name == "underline") return line({{0, 0.14 * s}, {base.width, 0.14 * s}});
  if (name == "bar" || name == "overline") {
    line({{0.04 * s, top}, {base.width - 0.02 * s, top}});
    base.width += kBehindBar * s;
  } else if (name == "vec") {
    const double end = base.width;
    line({{0.04 * s, top}, {end, top}, {end - 0.12 * s, top - 0.07 * s}});
    line({{end, top}, {end - 0.12 * s, top + 0.07 * s}});
    base.width += kBehindArrow * s;
  } else if (name == "hat") {
    line({{middle - 0.16 * s, top + 0.04 * s}, {middle, top - 0.1 * s}, {middle + 0.16 * s, top + 0.04 * s}});
  } else if (name == "check") {
    line({{middle - 0.16 * s, top - 0.1 * s}, {middle, top + 0.04 * s}, {middle + 0.16 * s, top - 0.1 * s}});
  } else if (name == "acute") {
    line({{middle - 0.06 * s, top + 0.04 * s}, {middle + 0.1 * s, top - 0.1 * s}});
  } else if (name == "grave") {
    line({{middle + 0.06 * s, top + 0.04 * s}, {middle - 0.1 * s, top - 0.1 * s}});
  } else if (name == "tilde") {
    Points wave;
    for (int i = 0; i <= 8; ++i)
      wave.emplace_back(middle + (i - 4) * 0.045 * s, top - 0.03 * s - 0.05 * s * std::sin(i * 0.785));
    line(std::move(wave));
  } else {  // a dot, or two
    const auto dot = [&](double at) {
      base.strokes.push_back({{{middle + (at - 0.04) * s, top}, {middle + (at + 0.04) * s, top}}, 0.08 * s});
    };
    dot(name == "dot" ? 0 : -0.1);
    if (name == "ddot") dot(0.1);
  }
  base.up = std::max(base.up, -top + 0.1 * s);
}

std::optional<TextLayout> Parser::styled(double size, Looks looks) {
  // The address of a link is not told: a link in a picture would take who clicks on it out of the mount.
  static constexpr std::string_view kStyles[] = {"it",   "bf",    "mbox",  "hbox", "url",
                                                 "font", "color", "scale", "kern", "lower"};
  for (const std::string_view name : kStyles) {
    const std::string command = "#" + std::string(name);
    if (!sees(command + "{") && !sees(command + "[")) continue;
    at_ += command.size();
    const double value = bracket_number();
    if (name == "it") looks.italic = !looks.italic;
    if (name == "bf") looks.bold = !looks.bold;
    if (name == "color" && value >= 0 && value < static_cast<double>(std::size(kColours)))
      looks.colour = kColours[static_cast<std::size_t>(value)];
    if (name == "font") set_font(looks, value);
    const double scale = name == "scale" ? std::clamp(value, 0.1, 4.0) : 1;
    TextLayout inner = group(size * scale, looks);
    if (name != "kern" && name != "lower") return inner;
    const double part = std::clamp(value, -5.0, 5.0);
    return moved_by(std::move(inner), name == "kern" ? part : 0, name == "lower" ? part : 0);
  }
  return std::nullopt;
}

TextLayout Parser::moved_by(TextLayout inner, double kern, double lower) {
  TextLayout moved;
  const double width = inner.width, height = inner.up + inner.down;
  moved.width = std::max(width * (1 + kern), 0.0);
  const bool is_one_run = inner.is_one_run();
  if (is_one_run && !inner.runs[0].pieces.empty())
    inner.runs[0].pieces[0].dx += kern * width, inner.runs[0].width = moved.width;
  put(moved, std::move(inner), is_one_run ? 0 : kern * width, lower * height);
  moved.begins_open = moved.ends_open = is_one_run;
  return moved;
}

void Parser::set_font(Looks& looks, double number) {
  if (!(number >= 10 && number < 200)) return;
  const int font = static_cast<int>(number) / 10;
  looks.italic = font == 1 || font == 3 || font == 5 || font == 7 || font == 9;
  looks.bold = font == 2 || font == 3 || font == 6 || font == 7;
}

std::optional<TextLayout> Parser::delimited(double size, const Looks& looks) {
  static constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"#[]{", "[]"}, {"#(){", "()"}, {"#||{", "||"}, {"#{}{", "{}"}};
  for (const auto& [command, ends] : kShort) {
    if (!sees(command)) continue;
    at_ += 3;
    return enclosed(group(size, looks), ends[0], ends[1], size);
  }
  if (!sees("#left") || at_ + 5 >= text_.size() || std::string_view("[({|").find(text_[at_ + 5]) == std::string::npos)
    return std::nullopt;
  const char begin = text_[at_ + 5];
  at_ += 6;
  if (nesting_ >= kNestingMax) return TextLayout();
  ++nesting_;
  ++closers_;
  TextLayout inner = row(size, looks);
  --closers_;
  --nesting_;
  char end = ' ';
  if (take("#right") && at_ < text_.size()) end = text_[at_++];
  return enclosed(std::move(inner), begin, end, size);
}

TextLayout Parser::enclosed(TextLayout inner, char begin, char end, double size) {
  TextLayout made;
  const double up = std::max(inner.up, kUp * size), down = std::max(inner.down, kDown * size), width = inner.width;
  const double room = 0.3 * size;
  put_centred(made, std::move(inner), room, width, 0);
  const auto draw = [&](char sign, double left, bool is_left) {
    static constexpr std::string_view kBegins = "[({|", kEnds = "])}|";
    const auto kind = is_left ? kBegins.find(sign) : kEnds.find(sign);
    if (kind == std::string_view::npos) return;
    // Outer and inner ends of the sign, depending on its side.
    const double out = left + (is_left ? 0.08 : 0.22) * size, in = left + (is_left ? 0.24 : 0.06) * size;
    const double middle = (down - up) / 2;
    Points points;
    if (kind == 0) points = {{in, -up}, {out, -up}, {out, down}, {in, down}};
    if (kind == 1)
      points = {{in, -up},
                {(in + out) / 2, -up * 0.8 + down * 0.2},
                {out, middle - up * 0.15},
                {out, middle + down * 0.15},
                {(in + out) / 2, down * 0.8 - up * 0.2},
                {in, down}};
    if (kind == 2)
      points = {{in, -up},     {(in + out) / 2, -up + 0.1 * size},    {(in + out) / 2, middle - 0.1 * size},
                {out, middle}, {(in + out) / 2, middle + 0.1 * size}, {(in + out) / 2, down - 0.1 * size},
                {in, down}};
    if (kind == 3) points = {{(in + out) / 2, -up}, {(in + out) / 2, down}};
    made.strokes.push_back({std::move(points), kStroke * size});
  };
  draw(begin, 0, true);
  draw(end, room + width, false);
  made.width = width + 2 * room;
  return made;
}

std::optional<std::string_view> Parser::bracket() {
  if (!sees("[")) return std::nullopt;
  const auto close = text_.find(']', at_);
  if (close == text_.npos) return std::nullopt;
  const std::string_view inside = text_.substr(at_ + 1, close - at_ - 1);
  at_ = close + 1;
  return inside;
}

double Parser::bracket_number() {
  const auto argument = bracket();
  const double value = argument ? std::strtod(std::string(*argument).c_str(), nullptr) : 0;
  return std::isfinite(value) ? value : 0;
}

std::string Parser::escaped(std::string_view text) {
  std::string all;
  append_markup(all, text);
  return all;
}

TextLayout Parser::sign(double size, const Looks& looks) {
  const std::string_view rest = text_.substr(at_ + 1);
  const std::pair<std::string_view, std::string_view>* best = nullptr;
  for (const auto& known : kTLatexSigns) {
    if (rest.starts_with(known.first) && (!best || known.first.size() > best->first.size())) best = &known;
  }
  const bool is_sum = rest.starts_with("sum"), is_integral = rest.starts_with("int");
  if (is_sum || is_integral) {
    at_ += 4;
    return big_sign(is_sum ? "∑" : "∫", size, looks);
  }
  if (best) {
    at_ += 1 + best->first.size();
    return run(escaped(best->second), text_width(best->second), size, looks);
  }
  ++at_;
  return run("#", text_width("#"), size, looks);
}

TextLayout Parser::big_sign(std::string_view character, double size, const Looks& looks) {
  TextLayout made = run(std::string(character), text_width(character), size * 1.4, looks);
  made.runs[0].pieces[0].y = 0.12 * size;
  made.up = 0.96 * size;
  made.down = 0.5 * size;  // as deep as that of DejaVu Sans
  return made;
}

}  // namespace

TextLayout lay_out_tlatex(std::string_view tlatex) { return Parser(tlatex).parse(); }

}  // namespace tfilefs
