// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/root_file.h"
#include "printable.h"
#include "tfile/file.h"

namespace tfilefs {
namespace {

Result<std::shared_ptr<const tfile::FileClasses>> classes_of(const std::string& source) {
  TRY(const auto file, open_root_file(source));
  return file->classes();
}

Result<> write_file(const std::string& path, const std::string& text) {
  const auto failure = [&] { return tfile::fail(ErrorKind::io, path + " cannot be written", -1, errno); };
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"), &std::fclose);
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) return failure();
  if (std::fclose(file.release()) != 0) return failure();
  return {};
}

Result<std::size_t> write_headers(const std::string& source, const std::string& directory) {
  TRY(const auto classes, classes_of(source));
  if (::mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST)
    return tfile::fail(ErrorKind::io, directory + " cannot be made", -1, errno);
  for (const tfile::ClassHeader& header : classes->headers)
    TRY_VOID(write_file(directory + "/" + header.file_name, header.text));
  return classes->headers.size();
}

}  // namespace

int run_classes(int argc, char** argv) {
  CLI::App app("Writes a C++ header for each class that a ROOT file describes, as TFile::MakeProject does.",
               "tfilefs classes");
  std::string source, directory;
  app.add_option("SOURCE", source, "a ROOT file")->required();
  app.add_option("DIR", directory, "where to write them; made if it is not there")->required();
  if (const auto code = parse_arguments(app, argc, argv)) return *code;
  const auto written = write_headers(source, directory);
  if (!written) {
    Error error = written.error();
    if (!error.text.starts_with(source) && !error.text.starts_with(directory)) error.text = source + ": " + error.text;
    return complain(error);
  }
  std::printf("%zu headers in %s\n", *written, printable(directory).c_str());
  return kExitOk;
}

}  // namespace tfilefs
