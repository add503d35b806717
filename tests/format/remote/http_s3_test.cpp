// SPDX-License-Identifier: Apache-2.0
#include "remote/http/http_s3.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace tfile {
namespace {

class S3 : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION",
                             "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"})
      ::unsetenv(name);
    ::setenv("AWS_SHARED_CREDENTIALS_FILE", file_.c_str(), 1);
    ::unlink(file_.c_str());
  }
  void TearDown() override { SetUp(); }
  const std::string file_ = ::testing::TempDir() + "/credentials";
};

TEST_F(S3, UrlsAreOfTheRegionOrOfTheServiceThatIsNamed) {
  EXPECT_EQ(http_url_of_s3("s3://data/run 1/a+b.root?versionId=7").value(),
            "https://data.s3.us-east-1.amazonaws.com/run%201/a%2Bb.root?versionId=7");
  ::setenv("AWS_REGION", "eu-west-3", 1);
  EXPECT_EQ(http_url_of_s3("S3://data/a%20b").value(), "https://data.s3.eu-west-3.amazonaws.com/a%20b");
  ::setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000/", 1);
  EXPECT_EQ(http_url_of_s3("s3://data/a/b.root").value(), "http://127.0.0.1:9000/data/a/b.root");
}

TEST_F(S3, UrlsOfOtherFormsAreRefused) {
  for (const char* url : {"s3://", "s3:///key", "s3://bucket", "s3://bucket/", "s3://user@host/key", "s3://a:1/key"})
    EXPECT_FALSE(http_url_of_s3(url)) << url;
  EXPECT_TRUE(is_s3("S3://b/k"));
  EXPECT_FALSE(is_s3("s3:/b/k"));
}

TEST_F(S3, KeysComeFromTheEnvironmentOrTheProfile) {
  EXPECT_FALSE(find_aws_keys());
  std::ofstream(file_) << "[other]\naws_access_key_id = O\naws_secret_access_key=P\n"
                          "[default]\r\naws_access_key_id=A\r\n aws_secret_access_key = B=C\r\n";
  EXPECT_EQ(find_aws_keys()->id, "A");
  EXPECT_EQ(find_aws_keys()->secret, "B=C");
  ::setenv("AWS_PROFILE", "other", 1);
  EXPECT_EQ(find_aws_keys()->secret, "P");
  ::setenv("AWS_PROFILE", "none", 1);
  EXPECT_FALSE(find_aws_keys());
  ::setenv("AWS_ACCESS_KEY_ID", "E", 1);
  EXPECT_FALSE(find_aws_keys()) << "half of them are none";
  ::setenv("AWS_SECRET_ACCESS_KEY", "F", 1);
  ::setenv("AWS_SESSION_TOKEN", "G", 1);
  const AwsKeys keys = find_aws_keys().value();
  EXPECT_EQ(keys.id + keys.secret + keys.session_token + keys.region, "EFGus-east-1");
}

}  // namespace
}  // namespace tfile
