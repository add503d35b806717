// SPDX-License-Identifier: Apache-2.0
#include "remote/http/http_s3.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tfile {
namespace {

class S3 : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION"})
      ::unsetenv(name);
    for (const char* name : {"AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"}) ::setenv(name, "/nonexistent", 1);
  }
  void TearDown() override { SetUp(); }
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

}  // namespace
}  // namespace tfile
