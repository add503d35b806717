// SPDX-License-Identifier: Apache-2.0
#include "remote/server/url.h"

#include <gtest/gtest.h>

#include <string>

#include "remote/server/origins.h"
#include "tfile/percent_text.h"
#include "tfile/remote_listing.h"

namespace tfile {
namespace {

std::string sibling(std::string_view url, std::string_view relative) {
  const Result<std::string> result = sibling_url(url, relative);
  if (result) return *result;
  return result.error().kind == ErrorKind::denied ? "denied" : "not found";
}

TEST(SiblingUrl, TakesTheLastComponentsPlace) {
  EXPECT_EQ(sibling("root://host//data/a.root", "b.root"), "root://host//data/b.root");
  EXPECT_EQ(sibling("root://host//data/a.root", "sub/b.root"), "root://host//data/sub/b.root");
  EXPECT_EQ(sibling("root://host//data/a.root", "./sub/../b.root"), "root://host//data/b.root");
  EXPECT_EQ(sibling("root://u@host:1//a.root?authz=x/y&b=2", "b.root"), "root://u@host:1//b.root?authz=x/y&b=2");
  EXPECT_EQ(sibling("root://cache//root://origin//data/a.root?x=1", "b.root"),
            "root://cache//root://origin//data/b.root?x=1");
  EXPECT_EQ(sibling("https://host/a.root#part", "b.root"), "https://host/b.root#part");
}

TEST(SiblingUrl, EncodesForHttpAlone) {
  EXPECT_EQ(sibling("https://host/d/a.root", "b c?#%.root"), "https://host/d/b%20c%3F%23%25.root");
  EXPECT_EQ(sibling("root://host//d/a.root", "b c%20.root"), "root://host//d/b c%20.root");
  EXPECT_EQ(sibling("root://host//d/a.root", "b?c.root"), "denied");
  EXPECT_EQ(sibling("root://host//d/a.root", "b#c.root"), "denied");
}

TEST(SiblingUrl, StaysInTheDirectory) {
  const std::string url = "root://host//data/a.root";
  EXPECT_EQ(sibling(url, ""), "not found");
  EXPECT_EQ(sibling(url, "/b.root"), "denied");
  EXPECT_EQ(sibling(url, std::string_view("b\0.root", 7)), "denied");
  EXPECT_EQ(sibling(url, ".."), "denied");
  EXPECT_EQ(sibling(url, "."), "denied");
  EXPECT_EQ(sibling(url, "../b.root"), "denied");
  EXPECT_EQ(sibling(url, "sub/../../b.root"), "denied");
  EXPECT_EQ(sibling(url, "root://elsewhere//b.root"), "denied");
  EXPECT_EQ(sibling("root://host", "b.root"), "denied");
  EXPECT_EQ(sibling("https://host?path", "b.root"), "denied");
  EXPECT_EQ(sibling("x", "b.root"), "denied");
  EXPECT_EQ(sibling("", "b.root"), "denied");
}

TEST(WithoutSecrets, HidesLoginsAndTokens) {
  EXPECT_EQ(without_secrets("/data/a@b.root"), "/data/a@b.root");
  EXPECT_EQ(without_secrets("root://host:1094//data/a.root?svcClass=t0&n=1"),
            "root://host:1094//data/a.root?svcClass=t0&n=1");
  EXPECT_EQ(without_secrets("root://me:word@host//a@b.root"), "root://host//a@b.root");
  EXPECT_EQ(without_secrets("https://t:p@ss@host/a"), "https://host/a");
  EXPECT_EQ(without_secrets("root://a:b@cache//root://c:d@origin//p"), "root://cache//root://origin//p");
  EXPECT_EQ(without_secrets("root://h//p?authz=Bearer%20abc&n=1&access_token=x"),
            "root://h//p?authz=***&n=1&access_token=***");
  EXPECT_EQ(without_secrets("https://h/p?X-Amz-Signature=1&X-Amz-Credential=2&AWSAccessKeyId=3"),
            "https://h/p?X-Amz-Signature=***&X-Amz-Credential=***&AWSAccessKeyId=***");
  EXPECT_EQ(without_secrets("root://h//p?cap.msg=a&cap.sym=b?authz=c"),
            "root://h//p?cap.msg=***&cap.sym=***?authz=***");
  EXPECT_EQ(without_secrets("root://h//p?q=" + std::string(41, 'x')), "root://h//p?q=***");
  EXPECT_EQ(without_secrets("root://h//p?" + std::string(41, 'x')), "root://h//p?***");
  EXPECT_EQ(without_secrets("root://h//p?authz="), "root://h//p?authz=");
  EXPECT_EQ(without_secrets("root://h//p?"), "root://h//p?");
}

TEST(WithoutSecrets, AlsoInTheServersWords) {
  EXPECT_EQ(without_secrets_of("root://u:w@h//p?authz=tok&n=1", "Unable to open /p?authz=tok&n=1 of u:w@h; tok"),
            "Unable to open /p?authz=***&n=1 of ***h; ***");
  EXPECT_EQ(without_secrets_of("root://h//p?n=1", "n=1 failed"), "n=1 failed");
}

TEST(Origins, AreNumberedByServer) {
  const ServerId first = origin_of_server("root://origins-test-a:1094");
  EXPECT_GE(first, 1u);
  const ServerId second = origin_of_server("root://origins-test-b:1094");
  EXPECT_NE(first, second);
  EXPECT_NE(origin_of_server("http://origins-test-a:1094"), first);
  EXPECT_EQ(origin_of_server("root://origins-test-a:1094"), first);
}

std::string parts(std::string_view url) {
  const UrlParts found = url_parts(url);
  return std::string(found.server) + " " + std::string(found.path) + " " + std::string(found.query);
}

TEST(UrlParts, TellsServerPathAndQuery) {
  EXPECT_EQ(parts("root://host:1//data/f.root?x=*"), "root://host:1/ /data/f.root ?x=*");
  EXPECT_EQ(parts("root://cache//root://[::1]:2//data/*"), "root://cache//root://[::1]:2/ /data/* ");
  EXPECT_EQ(parts("root://host"), "root://host  ");
  EXPECT_EQ(parts("http://u:p@host/a/b?c=/d"), "http://u:p@host /a/b ?c=/d");
  EXPECT_EQ(parts("http://host?c"), "http://host  ?c");
  EXPECT_EQ(parts("s3://bucket/a/b"), "s3://bucket /a/b ");
}

TEST(UrlParts, AQuestionMarkBeforeANameOfARootFileIsNoQuery) {
  EXPECT_EQ(parts("root://host//d/run?.root"), "root://host/ /d/run?.root ");
  EXPECT_EQ(parts("http://host/d?/run??.root?authz=a/b?c.root"), "http://host /d?/run??.root ?authz=a/b?c.root");
  EXPECT_EQ(parts("http://host/f.root?file=x.root"), "http://host /f.root ?file=x.root");
  EXPECT_EQ(parts("http://host/f.root?TOKEN/x"), "http://host /f.root ?TOKEN/x");
  EXPECT_EQ(parts("http://host/f.root?TOKEN/x#.root"), "http://host /f.root ?TOKEN/x#.root");
}

TEST(UrlBelow, NamesAreAppendedToTheDirectory) {
  EXPECT_EQ(url_below("root://host//data", "a b"), "root://host//data/a b");
  EXPECT_EQ(url_below("root://host//data/", "a?x/b"), "root://host//data/a?x/b");
  EXPECT_EQ(url_below("root://host//data?t=1", "f"), "root://host//data/f?t=1");
  for (const char* root : {"root://host", "root://host/", "root://host//"})
    EXPECT_EQ(url_below(root, "data/f"), "root://host//data/f") << root;
  EXPECT_EQ(url_below("root://cache//root://origin//data", "f"), "root://cache//root://origin//data/f");
  EXPECT_EQ(url_below("https://host/d/?t=1", "a b?#%.root"), "https://host/d/a%20b%3F%23%25.root?t=1");
  for (const char* root : {"dav://host", "dav://host/"}) EXPECT_EQ(url_below(root, "f"), "dav://host/f");
  EXPECT_EQ(url_below("s3://bucket", "a+b"), "s3://bucket/a%2Bb");
  EXPECT_EQ(url_below("https://host/d?t=1", ""), "https://host/d/?t=1");
}

TEST(UrlBelow, PathsAreNamedAsTheServerHasThem) {
  EXPECT_EQ(path_as_named("http://host/", "a%20b%2f%zz%"), "a b/%zz%");
  EXPECT_EQ(path_as_named("root://host/", "a%20b"), "a%20b");
  for (const std::string name : {"a b", "%41", "\xff?*[", "x%", "x%4"})
    EXPECT_EQ(percent_decoded_parts(percent_encoded(name, "/")), name);
}

}  // namespace
}  // namespace tfile
