// SPDX-License-Identifier: Apache-2.0
#include "remote/http/aws_profile.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace tfile {
namespace {

class AwsProfiles : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
                             "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_DEFAULT_PROFILE"})
      ::unsetenv(name);
    ::setenv("AWS_SHARED_CREDENTIALS_FILE", file_.c_str(), 1);
    ::setenv("AWS_CONFIG_FILE", config_.c_str(), 1);
    ::unlink(file_.c_str());
    ::unlink(config_.c_str());
  }
  void TearDown() override { SetUp(); }
  const std::string file_ = ::testing::TempDir() + "/credentials." + std::to_string(::getpid());
  const std::string config_ = ::testing::TempDir() + "/config." + std::to_string(::getpid());
};

TEST_F(AwsProfiles, KeysComeFromTheEnvironmentOrTheProfile) {
  EXPECT_EQ(aws_profile().keys.id, "");
  std::ofstream(file_) << "[other]\naws_access_key_id = O\naws_secret_access_key=P\n"
                          "[default]\r\naws_access_key_id=A\r\n aws_secret_access_key = B=C\r\n";
  EXPECT_EQ(aws_profile().keys.id, "A");
  EXPECT_EQ(aws_profile().keys.secret, "B=C");
  ::setenv("AWS_PROFILE", "other", 1);
  EXPECT_EQ(aws_profile().keys.secret, "P");
  ::setenv("AWS_PROFILE", "none", 1);
  EXPECT_EQ(aws_profile().keys.id, "");
  ::setenv("AWS_ACCESS_KEY_ID", "E", 1);
  EXPECT_EQ(aws_profile().keys.id, "") << "half of them are none";
  ::setenv("AWS_SECRET_ACCESS_KEY", "F", 1);
  ::setenv("AWS_SESSION_TOKEN", "G", 1);
  const AwsKeys keys = aws_profile().keys;
  EXPECT_EQ(keys.id + keys.secret + keys.session_token + keys.region, "EFGus-east-1");
}

TEST_F(AwsProfiles, TheFileOfConfigurationComesLast) {
  std::ofstream(config_) << "[default]\nregion = eu-west-3\ncredential_process = lend \"of mine\" --role=a\n"
                            "[profile other]\naws_access_key_id=O\naws_secret_access_key=P\ncredential_process=x\n";
  EXPECT_EQ(aws_profile().credential_process, "lend \"of mine\" --role=a");
  EXPECT_EQ(aws_profile().keys.region, "eu-west-3");
  ::setenv("AWS_PROFILE", "other", 1);
  EXPECT_EQ(aws_profile().keys.id, "O");
  EXPECT_EQ(aws_profile().credential_process, "") << "there are keys";
  EXPECT_EQ(aws_profile().keys.region, "us-east-1");
  ::setenv("AWS_PROFILE", "default", 1);
  std::ofstream(file_) << "[default]\naws_access_key_id=A\naws_secret_access_key=B\n";
  EXPECT_EQ(aws_profile().keys.id + aws_profile().keys.region, "Aeu-west-3");
  EXPECT_EQ(aws_profile().credential_process, "");
}

TEST(AwsCredentials, AreWhatAProgramPrints) {
  const auto found = aws_credentials_of(
      R"({"Version": 1, "AccessKeyId": "A", "SecretAccessKey": "B", "SessionToken": "C", "Expiration": "1970-01-02T01:00:00Z"})");
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(found->keys.id + found->keys.secret + found->keys.session_token, "ABC");
  EXPECT_EQ(std::chrono::system_clock::to_time_t(found->expiration.value()), 90'000);
  for (const auto& [date, seconds] : {std::pair("1970-01-02T01:00:00.123456+01:00", 86'400),
                                      {"1970-01-02T01:00:00-00:30", 91'800},
                                      {"1970-01-02T01:00:00+0100", 86'400}}) {
    const auto with = aws_credentials_of(R"({"Version":1,"AccessKeyId":"A","SecretAccessKey":"B","Expiration":")" +
                                         std::string(date) + "\"}");
    ASSERT_TRUE(with) << date;
    EXPECT_EQ(std::chrono::system_clock::to_time_t(with->expiration.value()), seconds) << date;
  }
  EXPECT_FALSE(aws_credentials_of(R"({"Version":1,"AccessKeyId":"A","SecretAccessKey":"B"})")->expiration);
}

TEST(AwsCredentials, AreNothingElse) {
  for (const char* wrong :
       {"", "[]", "1", "{", "{}", R"({"Version":2,"AccessKeyId":"A","SecretAccessKey":"B"})",
        R"({"AccessKeyId":"A","SecretAccessKey":"B"})", R"({"Version":1,"AccessKeyId":"A"})",
        R"({"Version":1,"AccessKeyId":"A","SecretAccessKey":7})",
        R"({"Version":1,"AccessKeyId":"A","SecretAccessKey":"B","Expiration":"soon"})",
        R"({"Version":1,"AccessKeyId":"A","SecretAccessKey":"B","Expiration":"1970-01-02T01:00:00+x"})"})
    EXPECT_EQ(aws_credentials_of(wrong).error().kind, ErrorKind::io) << wrong;
  const std::string deep(100'000, '[');
  EXPECT_FALSE(aws_credentials_of(deep));
}

TEST(CredentialProcess, IsALineForTheShell) {
  const auto found =
      run_credential_process(R"(printf '{"Version": 1, "AccessKeyId": "%s", "SecretAccessKey": "B"}' "of mine")");
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(found->keys.id, "of mine");
}

TEST(CredentialProcess, ThatFailsIsTold) {
  const auto told = [](const char* line) { return run_credential_process(line).error().text; };
  EXPECT_EQ(told("echo 'log in first' >&2; echo more >&2; exit 3"), "credential_process: exit status 3: log in first");
  EXPECT_EQ(told("exit 4"), "credential_process: exit status 4");
  EXPECT_EQ(told("kill -9 $$"), "credential_process: was killed");
  EXPECT_EQ(told("cat"), "credential_process: printed no object of JSON") << "its input is empty";
  EXPECT_EQ(told("head -c 1000000 /dev/zero"), "credential_process: printed too much");
  EXPECT_EQ(told("/nonexistent/program").substr(0, 35), "credential_process: exit status 127");
}

}  // namespace
}  // namespace tfile
