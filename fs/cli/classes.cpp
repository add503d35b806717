// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/each_source.h"
#include "descriptor.h"
#include "printable.h"
#include "root_file.h"
#include "staging/journal/file_place.h"
#include "tfile/file.h"

namespace tfilefs {
namespace {

Result<std::shared_ptr<const tfile::FileClasses>> classes_of(const std::string& source) {
  TRY(const auto file, open_root_file(source));
  return file->classes();
}

tl::unexpected<Error> cannot_write(const std::string& path, int number) {
  const std::string reason = number == ELOOP ? "is a symbolic link, which is not followed" : std::strerror(number);
  return tfile::fail(ErrorKind::io, path + " cannot be written: " + reason, -1, number);
}

// Follows no link: other users may have put some into the directory.
Result<> write_file(int directory, const std::string& path, const std::string& name, const std::string& text) {
  Descriptor file(
      ::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return cannot_write(path, errno);
  if (!S_ISREG(status.st_mode)) return tfile::fail(ErrorKind::invalid, path + " cannot be written: not a plain file");
  if (::ftruncate(file.get(), 0) != 0) return cannot_write(path, errno);
  if (const auto done = write_all(file.get(), 0, std::as_bytes(std::span(text))); !done)
    return cannot_write(path, done.error().system_errno);
  if (::close(file.release()) != 0) return cannot_write(path, errno);
  return {};
}

// The headers of all sources, in one directory.
class Headers {
 public:
  explicit Headers(std::string directory) : directory_(std::move(directory)) {}

  Result<> open() {
    if (::mkdir(directory_.c_str(), 0777) != 0 && errno != EEXIST)
      return tfile::fail(ErrorKind::io, directory_ + " cannot be created", -1, errno);
    at_ = Descriptor(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!at_) return tfile::system_error(directory_, errno);
    return {};
  }

  // A class that two files describe in different ways keeps the first header.
  int write(const OneSource& source) {
    const auto written = write_of(source);
    if (written) return *written == 0 ? kExitOk : complain(others(source, *written));
    Error error = written.error();
    if (!error.text.starts_with(source.shown) && !error.text.starts_with(directory_))
      error.text = source.shown + ": " + error.text;
    return complain(error);
  }

  std::size_t count() const { return texts_.size(); }

 private:
  // The number of classes that have another header already.
  Result<std::size_t> write_of(const OneSource& source) {
    TRY(const auto classes, classes_of(source.name));
    if (!at_) TRY_VOID(open());
    std::size_t others = 0;
    for (const tfile::ClassHeader& header : classes->headers) {
      const auto [known, is_new] = texts_.try_emplace(header.file_name, header.text);
      if (is_new) TRY_VOID(write_file(at_.get(), directory_ + "/" + header.file_name, header.file_name, header.text));
      if (!is_new && known->second != header.text) ++others;
    }
    return others;
  }

  static Error others(const OneSource& source, std::size_t count) {
    return {ErrorKind::exists,
            source.shown + ": describes " + std::to_string(count) + " classes differently from an earlier file; " +
                "their headers describe the earlier file",
            -1, 0};
  }

  const std::string directory_;
  Descriptor at_;
  std::map<std::string, std::string> texts_;  // by file name
};

}  // namespace

int run_classes(int argc, char** argv) {
  CommandLine command("classes");
  std::string source, directory;
  command.take("SOURCE", source);
  command.take("DIR", directory);
  if (const auto code = command.parse(argc, argv)) return *code;
  Headers headers(directory);
  bool is_of_several = false;
  const int code = for_each_source({{source}}, {}, kExitFailure, [&](const OneSource& one) {
    is_of_several = one.is_of_several;
    return headers.write(one);
  });
  if (code == kExitOk || is_of_several)
    std::printf("%zu headers in %s\n", headers.count(), printable(directory).c_str());
  return code;
}

}  // namespace tfilefs
