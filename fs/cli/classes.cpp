// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/root_file.h"
#include "descriptor.h"
#include "printable.h"
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

Result<std::size_t> write_headers(const std::string& source, const std::string& directory) {
  TRY(const auto classes, classes_of(source));
  if (::mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST)
    return tfile::fail(ErrorKind::io, directory + " cannot be made", -1, errno);
  const Descriptor at(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!at) return tfile::system_error(directory, errno);
  for (const tfile::ClassHeader& header : classes->headers)
    TRY_VOID(write_file(at.get(), directory + "/" + header.file_name, header.file_name, header.text));
  return classes->headers.size();
}

}  // namespace

int run_classes(int argc, char** argv) {
  CommandLine command("classes");
  std::string source, directory;
  command.take("SOURCE", source);
  command.take("DIR", directory);
  if (const auto code = command.parse(argc, argv)) return *code;
  const auto written = write_headers(source, directory);
  if (!written) {
    Error error = written.error();
    const std::string name = tfile::shown_name(source);
    if (!error.text.starts_with(name) && !error.text.starts_with(directory)) error.text = name + ": " + error.text;
    return complain(error);
  }
  std::printf("%zu headers in %s\n", *written, printable(directory).c_str());
  return kExitOk;
}

}  // namespace tfilefs
