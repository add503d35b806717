// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/definitions.h"
#include "cli/key_walk.h"
#include "cli/nearest_name.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stop_on_signal.h"
#include "cli/work_flags.h"
#include "draw/draw_table.h"
#include "draw/drawing_file.h"
#include "draw/terminal_plot.h"
#include "query/draw_text.h"
#include "query/query.h"
#include "vfs/names/chain_names.h"

namespace tfilefs {
namespace {

struct DrawFlags {
  std::string bins, range, weights, out, threads, memory;
  std::vector<std::string> defines;
  bool log = false, profile = false, json = false, quiet = false;
  std::string source, expressions, cut;
};

Result<> of_flag(const char* flag, Result<> taken) {
  if (taken) return taken;
  Error error = std::move(taken).error();
  error.text = std::string(flag) + " " + error.text;
  return tl::unexpected<Error>(std::move(error));
}

Result<> parse_resources(const DrawFlags& given, TableDrawing& wanted) {
  wanted.memory = default_work_memory();
  if (!given.memory.empty()) {
    const auto memory = parse_size(given.memory);
    if (!memory || *memory < kWorkMemoryMin) return wrong_value("--memory", given.memory, "a size of at least 64M");
    wanted.memory = *memory;
  }
  TRY(wanted.threads, parse_threads(given.threads));
  return {};
}

Result<TableDrawing> drawing_of(const DrawFlags& given) {
  TableDrawing wanted;
  wanted.source = given.source;
  wanted.request.expressions = given.expressions;
  wanted.request.cut = given.cut;
  wanted.request.weights = given.weights;
  wanted.request.is_profile = given.profile;
  TRY_VOID(of_flag("--bins", take_bins(given.bins, wanted.request)));
  TRY_VOID(of_flag("--range", take_ranges(given.range, wanted.request)));
  TRY_VOID(parse_resources(given, wanted));
  TRY(wanted.definitions, parse_definitions(given.defines));
  if (!given.out.empty()) TRY_VOID(drawing_form(given.out));
  return wanted;
}

std::size_t terminal_columns() {
  constexpr std::size_t kUsual = 80, kMost = 200;
  struct winsize size {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::min<std::size_t>(size.ws_col, kMost);
  return kUsual;
}

// The file that -o names.
struct DrawingOutput {
  DrawingForm form = DrawingForm::csv;
  FilePlace place;
};
Result<std::optional<DrawingOutput>> output_of(const DrawFlags& given) {
  if (given.out.empty()) return std::nullopt;
  TRY(const DrawingForm form, drawing_form(given.out));
  TRY(FilePlace place, drawing_place(given.out, form));
  return DrawingOutput{form, std::move(place)};
}

// In a file, as JSON, or on the terminal.
Result<> show_drawing(const Drawing& drawing, const DrawFlags& given, const std::optional<DrawingOutput>& out) {
  if (out) {
    TRY(const std::string bytes, drawing_bytes(drawing, out->form, given.log));
    TRY_VOID(write_drawing(out->place, out->form, bytes));
  }
  if (given.json) {
    TRY(const std::string text, drawing_bytes(drawing, DrawingForm::json, given.log));
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (!text.ends_with('\n')) std::fputs("\n", stdout);
  } else if (!out) {
    std::fputs(terminal_plot(drawing, terminal_columns(), given.log).c_str(), stdout);
  }
  return {};
}

// If a local file has no table of the name, the error tells the name that is most like it, or those of its tables, as
// if none is named; if the file stands second, it tells both in order.
Error with_like_name(Error error, const DrawFlags& given) {
  const ChainName name = parse_chain_name(given.source), other = parse_chain_name(given.expressions);
  if (name.table.empty() && !other.table.empty() && ::access(other.file.c_str(), F_OK) == 0) {
    error.text += "; did you mean tfilefs draw " + given.expressions + " " + given.source + "?";
    return error;
  }
  if (name.table.empty() && error.kind == ErrorKind::invalid && ::access(name.file.c_str(), R_OK) == 0)
    error.text += told_tables(name.file);
  if (error.kind != ErrorKind::not_found || name.table.empty() || tfile::is_url(name.file)) return error;
  const auto fs = FileSystem::open(name.file, parse_mount_options({})->file_system);
  const std::string like = fs ? like_name_of(**fs, name.table) : "";
  error.text += like.empty() ? told_tables(name.file) : like;
  return error;
}

// As it is typed in ROOT: "x>>h(100,0,1)".
Error with_hint_of_options(Error error, const DrawFlags& given) {
  const std::string& text = given.expressions;
  const std::size_t arrow = text.rfind(">>");
  if (error.kind != ErrorKind::invalid || arrow == std::string::npos || !error.text.ends_with('\n')) return error;
  const std::string name = text.substr(arrow + 2, std::min(text.find('(', arrow), text.size()) - arrow - 2);
  const bool is_meant = is_query_name(name) && (text.ends_with(')') || text.size() == arrow + 2 + name.size());
  if (is_meant) error.text += "tfilefs: >>" + name + " names no histogram here: see --bins, --range and -o\n";
  return error;
}

void take_draw_flags(CommandLine& command, DrawFlags& given) {
  command.take("--bins", given.bins);
  command.take("--range", given.range);
  command.take("--log", given.log);
  command.take("--profile", given.profile);
  command.take("--weights", given.weights);
  command.take("--define", given.defines);
  command.take("-o", given.out);
  command.take("--json", given.json);
  command.take("-j", given.threads);
  command.take("--memory", given.memory);
  command.take("-q", given.quiet);
  command.take("SOURCE:TABLE", given.source);
  command.take("EXPR[:EXPR[:EXPR]]", given.expressions);
  command.take("[CUT]", given.cut);
}

}  // namespace

int run_draw(int argc, char** argv) {
  CommandLine command("draw");
  DrawFlags given;
  take_draw_flags(command, given);
  if (const auto code = command.parse(argc, argv)) return *code;
  const auto wanted = drawing_of(given);
  if (!wanted) {
    complain(wanted.error());
    return kExitUsage;
  }
  const auto out = output_of(given);
  if (!out) return complain(out.error());
  StopOnSignal stop;
  ProgressLine line(!given.quiet);
  const auto drawing = draw_table(*wanted, stop.token(), [&](double share) { line.show(share); });
  line.clear();
  if (!drawing && StopOnSignal::met() != 0) return 128 + StopOnSignal::met();
  if (!drawing) return complain_in_lines(with_hint_of_options(with_like_name(drawing.error(), given), given));
  const auto shown = show_drawing(*drawing, given, *out);
  return shown ? kExitOk : complain(shown.error());
}

}  // namespace tfilefs
