// SPDX-License-Identifier: Apache-2.0
#include "remote/http/aws_profile.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "remote/server/environment.h"
#include "tfile/descriptor.h"

namespace tfile {
namespace {

// A file of profiles has some lines for each account.
constexpr std::size_t kLinesMax = 10'000;
// A program prints two keys and a token of some thousand characters.
constexpr std::size_t kPrintedMax = 64 << 10;
constexpr std::chrono::seconds kProcessMax{60};

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

void take_if_new(std::string& into, std::string_view value) {
  if (into.empty()) into = value;
}

// Adds what a section of a file says and no earlier file has said. Keys are taken as a pair.
void add_section(AwsProfile& profile, const std::string& path, const std::string& section) {
  std::ifstream file(path);
  AwsKeys keys;
  bool is_wanted = false;
  std::string line;
  for (std::size_t i = 0; i < kLinesMax && std::getline(file, line); ++i) {
    const std::string_view text = without_blanks(line);
    if (text.starts_with('[')) is_wanted = text == section;
    const std::size_t equals = text.find('=');
    if (!is_wanted || equals == std::string_view::npos) continue;
    const std::string_view name = without_blanks(text.substr(0, equals)),
                           value = without_blanks(text.substr(equals + 1));
    if (name == "aws_access_key_id") keys.id = value;
    if (name == "aws_secret_access_key") keys.secret = value;
    if (name == "aws_session_token") keys.session_token = value;
    if (name == "region") take_if_new(profile.keys.region, value);
    if (name == "credential_process") take_if_new(profile.credential_process, value);
  }
  if (!profile.keys.id.empty() || keys.id.empty() || keys.secret.empty()) return;
  keys.region = profile.keys.region;
  profile.keys = keys;
}

std::string file_in_home(const char* variable, const char* path) {
  std::string named = first_of_environment({variable});
  return named.empty() ? first_of_environment({"HOME"}) + path : named;
}

// "2026-11-30T12:00:00Z", also with a fraction, or with an offset of hours and minutes.
std::optional<std::chrono::system_clock::time_point> moment_of(const std::string& text) {
  std::tm time{};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  if (!rest) return std::nullopt;
  if (*rest == '.') rest += 1 + std::strspn(rest + 1, "0123456789");
  int hours = 0, minutes = 0;
  if (*rest == '+' || *rest == '-') {
    if (std::sscanf(rest + 1, "%2d:%2d", &hours, &minutes) < 1) return std::nullopt;
    if (*rest == '-') hours = -hours, minutes = -minutes;
  }
  return std::chrono::system_clock::from_time_t(::timegm(&time)) - std::chrono::hours(hours) -
         std::chrono::minutes(minutes);
}

// A child with its standard output and standard error, in a process group of its own.
struct Child {
  pid_t process = -1;
  Descriptor output, complaints;
};

Result<Child> start_shell(const std::string& line) {
  std::array<int, 2> output, complaints;
  if (::pipe2(output.data(), O_CLOEXEC) != 0) return fail(ErrorKind::io, std::strerror(errno));
  Child child{-1, Descriptor(output[0]), Descriptor()};
  const Descriptor output_end(output[1]);
  if (::pipe2(complaints.data(), O_CLOEXEC) != 0) return fail(ErrorKind::io, std::strerror(errno));
  child.complaints = Descriptor(complaints[0]);
  const Descriptor complaints_end(complaints[1]);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, output_end.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, complaints_end.get(), STDERR_FILENO);
  // This process may block signals in its threads, and ignore some.
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::string shell = "/bin/sh", option = "-c", command = line;
  const std::array<char*, 4> words{shell.data(), option.data(), command.data(), nullptr};
  const int error = ::posix_spawn(&child.process, shell.c_str(), &files, &attributes, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return fail(ErrorKind::io, std::strerror(error));
  return child;
}

// Takes what a pipe has now. False: that is its end.
bool drain(int pipe, std::string& into) {
  std::array<char, 4096> buffer;
  const ssize_t size = ::read(pipe, buffer.data(), buffer.size());
  if (size < 0) return errno == EINTR || errno == EAGAIN;
  const std::size_t room = kPrintedMax + 1 - std::min(into.size(), kPrintedMax + 1);
  into.append(buffer.data(), std::min(static_cast<std::size_t>(size), room));
  return size > 0;
}

// Reads what it prints until it closes its output; false: it takes too long.
bool listen(const Child& child, std::string& printed, std::string& complaint) {
  const auto end = std::chrono::steady_clock::now() + kProcessMax;
  std::array<pollfd, 2> pipes{{{child.output.get(), POLLIN, 0}, {child.complaints.get(), POLLIN, 0}}};
  while (pipes[0].fd >= 0 || pipes[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    if (::poll(pipes.data(), pipes.size(), static_cast<int>(left.count())) < 0 && errno != EINTR) return false;
    if (pipes[0].fd >= 0 && pipes[0].revents && !drain(pipes[0].fd, printed)) pipes[0].fd = -1;
    if (pipes[1].fd >= 0 && pipes[1].revents && !drain(pipes[1].fd, complaint)) pipes[1].fd = -1;
  }
  return true;
}

}  // namespace

AwsProfile aws_profile() {
  const std::string named = first_of_environment({"AWS_PROFILE", "AWS_DEFAULT_PROFILE"});
  const bool is_default = named.empty() || named == "default";
  AwsProfile profile;
  profile.keys = {first_of_environment({"AWS_ACCESS_KEY_ID"}), first_of_environment({"AWS_SECRET_ACCESS_KEY"}),
                  first_of_environment({"AWS_SESSION_TOKEN"}),
                  first_of_environment({"AWS_REGION", "AWS_DEFAULT_REGION"})};
  if (profile.keys.secret.empty()) profile.keys.id.clear();  // half of a pair is none
  add_section(profile, file_in_home("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials"),
              "[" + (is_default ? "default" : named) + "]");
  add_section(profile, file_in_home("AWS_CONFIG_FILE", "/.aws/config"),
              is_default ? "[default]" : "[profile " + named + "]");
  if (!profile.keys.id.empty()) profile.credential_process.clear();
  take_if_new(profile.keys.region, "us-east-1");
  return profile;
}

// https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html
Result<AwsCredentials> aws_credentials_of(std::string_view printed) {
  const auto object = nlohmann::json::parse(printed, nullptr, false);
  const auto text_of = [&](const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (!object.is_object()) return fail(ErrorKind::io, "printed no object of JSON");
  if (object.value("Version", nlohmann::json()) != 1) return fail(ErrorKind::io, "printed no \"Version\": 1");
  AwsCredentials found{{text_of("AccessKeyId"), text_of("SecretAccessKey"), text_of("SessionToken"), {}}, {}};
  if (found.keys.id.empty() || found.keys.secret.empty())
    return fail(ErrorKind::io, "printed no AccessKeyId and SecretAccessKey");
  if (const std::string end = text_of("Expiration"); !end.empty()) {
    found.expiration = moment_of(end);
    if (!found.expiration) return fail(ErrorKind::io, "printed an Expiration that is no date");
  }
  return found;
}

Result<AwsCredentials> run_credential_process(const std::string& line) {
  const auto failed = [](const std::string& why) { return fail(ErrorKind::io, "credential_process: " + why); };
  auto child = start_shell(line);
  if (!child) return failed(child.error().text);
  std::string printed, complaint;
  const bool ended = listen(*child, printed, complaint);
  if (!ended) ::kill(-child->process, SIGKILL);
  int status = -1;
  while (::waitpid(child->process, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) return failed("took longer than " + std::to_string(kProcessMax.count()) + " s");
  const std::string first_line = complaint.substr(0, complaint.find('\n'));
  if (!WIFEXITED(status)) return failed("was killed");
  if (WEXITSTATUS(status) != 0)
    return failed("exit status " + std::to_string(WEXITSTATUS(status)) + (first_line.empty() ? "" : ": ") + first_line);
  if (printed.size() > kPrintedMax) return failed("printed too much");
  auto found = aws_credentials_of(printed);
  if (!found) return failed(found.error().text);
  return found;
}

}  // namespace tfile
