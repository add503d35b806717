// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/each_source.h"
#include "cli/inside_files.h"
#include "cli/options.h"
#include "cli/source_names.h"

namespace tfilefs {
namespace {

// Opens sources, each once if they are named one after the other.
class LastSource {
 public:
  explicit LastSource(const FileSystemOptions& options) : options_(options) {}
  Result<std::shared_ptr<FileSystem>> open(const std::string& name) {
    if (fs_ && name == name_) return fs_;
    fs_.reset();
    TRY(fs_, FileSystem::open(name, options_));
    name_ = name;
    return fs_;
  }

 private:
  const FileSystemOptions& options_;
  std::string name_;
  std::shared_ptr<FileSystem> fs_;
};

Result<> write_out(FileSystem& fs, const InsideFile& file) {
  if (S_ISDIR(file.inode.attributes().mode)) return tfile::fail(ErrorKind::invalid, "is a directory");
  return read_whole(fs, file.inode.id(), 0,
                    [](const Slices& piece) { return write_slices(STDOUT_FILENO, "the output", piece); });
}

// The error names the file.
Result<> write_files(LastSource& sources, const OneSource& source, const std::string& path) {
  const auto named = [&](const std::string& inside, Error error) {
    error.text = source.shown + (inside.empty() ? "" : "/" + inside) + ": " + error.text;
    return tl::unexpected(std::move(error));
  };
  TRY(const auto fs, sources.open(source.name));
  auto files = files_at(*fs, path);
  if (!files) return named(path, std::move(files).error());
  for (const InsideFile& file : *files) {
    if (auto written = write_out(*fs, file); !written) return named(file.path, std::move(written).error());
  }
  return {};
}

}  // namespace

int run_cat(int argc, char** argv) {
  CommandLine command("cat");
  std::vector<std::string> option_lists, paths;
  command.take("-o", option_lists);
  command.take("SOURCE/PATH...", paths);
  if (const auto code = command.parse(argc, argv)) return *code;
  const auto options = options_or_complaint(option_lists);
  if (!options) return kExitUsage;
  LastSource sources(options->file_system);
  int code = kExitOk;
  for (const std::string& path : paths) {
    const SourcePath at = split_source(path);
    code |= for_each_source({{at.source}}, options->file_system.remote, kExitFailure, [&](const OneSource& one) {
      const auto written = write_files(sources, one, at.inside);
      return written ? kExitOk : complain(written.error());
    });
  }
  return code;
}

}  // namespace tfilefs
