// SPDX-License-Identifier: Apache-2.0
#include "http/http_service.h"

#include <gtest/gtest.h>

#include "fs/vfs/fake_file.h"
#include "http/listing_text.h"
#include "waited.h"

namespace tfilefs {
namespace {

constexpr const char* kTokenOfTest = "abcdefghijklmnop";

std::string header_of(const HttpResponse& response, std::string_view name) {
  for (const auto& [key, value] : response.headers)
    if (key == name) return value;
  return "";
}

class HttpServiceTest : public ::testing::Test {
 protected:
  static std::shared_ptr<FakeFile> file() {
    auto made = std::make_shared<FakeFile>();
    made->object("note", "the bytes");
    made->object("a/b", "slash");
    return made;
  }

  HttpResponse ask(const std::string& method, const std::string& target,
                   std::vector<std::pair<std::string, std::string>> headers = {}) {
    auto request = std::make_shared<HttpRequest>(HttpRequest{method, target, std::move(headers)});
    request->headers.emplace_back("Host", "localhost");
    request->headers.emplace_back("Authorization", std::string("Bearer ") + kTokenOfTest);
    auto judged = service_.judge(*request);
    if (auto* const now = std::get_if<HttpResponse>(&judged)) return std::move(*now);
    return *waited<HttpResponse>(
        [&](auto reply) { service_.answer(request, std::get<RequestPath>(judged), std::move(reply)); });
  }
  std::string text_of(const HttpResponse& response, std::size_t most = 7) {
    std::string text;
    while (text.size() < response.body.size()) {
      const auto piece = waited<Slices>([&](auto reply) { response.body.read(text.size(), most, std::move(reply)); });
      if (!piece || piece->size() == 0 || piece->size() > most) return "failed";
      for (const auto each : piece->pieces) text.append(reinterpret_cast<const char*>(each.data()), each.size());
    }
    return text;
  }

  // Of a body without a size.
  std::string made_text_of(const HttpResponse& response, std::size_t most) {
    std::string text;
    for (;;) {
      const auto piece = waited<Slices>([&](auto reply) { response.body.read(0, most, std::move(reply)); });
      if (!piece || piece->size() > most) return "failed";
      if (piece->size() == 0) return text;
      for (const auto each : piece->pieces) text.append(reinterpret_cast<const char*>(each.data()), each.size());
    }
  }

  std::optional<HttpResponse> at_once(const HttpRequest& request) const {
    auto judged = service_.judge(request);
    auto* const now = std::get_if<HttpResponse>(&judged);
    return now ? std::optional(std::move(*now)) : std::nullopt;
  }

  FakeMount mount_{file()};
  HttpService service_{*mount_.fs, {kTokenOfTest, "tfilefs-80", {}}};
};

TEST_F(HttpServiceTest, SendsAFileWholeAndInPart) {
  const HttpResponse whole = ask("GET", "/note/object.bin");
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(text_of(whole), "the bytes");
  const HttpResponse part = ask("GET", "/note/object.bin", {{"Range", "bytes=4-6"}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(header_of(part, "Content-Range"), "bytes 4-6/9");
  EXPECT_EQ(text_of(part), "byt");
  const HttpResponse none = ask("GET", "/note/object.bin", {{"Range", "bytes=9-"}});
  EXPECT_EQ(none.status, 416);
  EXPECT_EQ(header_of(none, "Content-Range"), "bytes */9");
}

TEST_F(HttpServiceTest, SendsSeveralRangesInParts) {
  const HttpResponse parts = ask("GET", "/note/object.bin", {{"Range", "bytes=0-2,-3"}});
  EXPECT_EQ(parts.status, 206);
  const std::string text = text_of(parts);
  EXPECT_EQ(text.size(), parts.body.size());
  EXPECT_NE(text.find("bytes 0-2/9\r\n\r\nthe\r\n--"), std::string::npos) << text;
  EXPECT_NE(text.find("bytes 6-8/9\r\n\r\ntes\r\n--"), std::string::npos) << text;
}

TEST_F(HttpServiceTest, KnowsWhatTheClientHas) {
  const std::string tag = header_of(ask("GET", "/note/object.bin"), "ETag");
  EXPECT_EQ(header_of(ask("HEAD", "/note/object.bin"), "ETag"), tag);
  EXPECT_EQ(ask("GET", "/note/object.bin", {{"If-None-Match", tag}}).status, 304);
  EXPECT_EQ(ask("GET", "/note/object.bin", {{"If-Match", "\"other\""}}).status, 412);
  EXPECT_EQ(ask("GET", "/note/object.bin", {{"Range", "bytes=0-0"}, {"If-Range", "\"other\""}}).status, 200);
  EXPECT_EQ(ask("GET", "/note/object.bin", {{"Range", "bytes=0-0"}, {"If-Range", tag}}).status, 206);
}

TEST_F(HttpServiceTest, ListsDirectories) {
  EXPECT_EQ(ask("GET", "/note").status, 301);
  EXPECT_EQ(header_of(ask("GET", "/a%252Fb"), "Location"), "/a%252Fb/");
  EXPECT_NE(text_of(ask("GET", "/")).find("href=\"a%252Fb/\""), std::string::npos);
  const std::string json = text_of(ask("GET", "/note", {{"Accept", "application/json"}}));
  EXPECT_NE(json.find("\"object.bin\", \"type\": \"file\", \"size\": 9"), std::string::npos) << json;
  EXPECT_NE(text_of(ask("PROPFIND", "/note", {{"Depth", "1"}})).find("<D:getcontentlength>9<"), std::string::npos);
  EXPECT_EQ(ask("PROPFIND", "/").status, 403);
}

TEST_F(HttpServiceTest, MakesLongListingsWhileTheyAreSent) {
  auto made = std::make_shared<FakeFile>();
  constexpr int kNames = 3000;
  for (int i = 0; i < kNames; ++i) made->object("key" + std::to_string(i), "x");
  FakeMount mount(made);
  const HttpService service(*mount.fs, {kTokenOfTest, "tfilefs-80", {}});
  const auto list = [&](const std::string& method, std::vector<std::pair<std::string, std::string>> headers) {
    const auto request = std::make_shared<HttpRequest>(HttpRequest{method, "/", std::move(headers)});
    return *waited<HttpResponse>([&](auto reply) { service.answer(request, {{}, true}, std::move(reply)); });
  };
  const HttpResponse dav = list("PROPFIND", {{"Depth", "1"}});
  EXPECT_FALSE(dav.body.has_size());
  const std::string text = made_text_of(dav, 1000);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find("<D:href>/key", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, kNames);
  EXPECT_TRUE(text.ends_with("</D:multistatus>\n"));
  const std::string json = made_text_of(list("GET", {{"Accept", "application/json"}}), 100'000);
  EXPECT_LT(json.find("\"key1000\""), json.find("\"key2\""));  // in the order of the names
  EXPECT_TRUE(json.ends_with("}]}\n"));

  // Each holds 3000 of the million names that all may hold.
  std::vector<HttpResponse> slow;
  int status = 207;
  while (status == 207 && slow.size() < 1000) {
    slow.push_back(list("PROPFIND", {{"Depth", "1"}}));
    status = slow.back().status;
  }
  EXPECT_EQ(status, 503);
  EXPECT_EQ(header_of(slow.back(), "Retry-After"), "1");
  // Other names are listed too, and the first response still holds its own.
  EXPECT_LE(slow.size(), ListedNames::kNamesMax / kNames + 1);
  EXPECT_GE(slow.size(), ListedNames::kNamesMax / (kNames + 10) - 1);
  slow.clear();
  EXPECT_EQ(list("PROPFIND", {{"Depth", "1"}}).status, 207);
}

TEST(RemadeText, IsOneStateOfAText) {
  const auto text = std::make_shared<std::string>(100'000, 'a');
  const auto source = remade_text([text](Reply<std::string> reply) { reply(*text); });
  std::string all;
  while (source->is_more()) {
    all += *waited<std::string>([&](auto reply) { source->next(std::move(reply)); });
  }
  EXPECT_EQ(all, *text);
  const auto changing = remade_text([text](Reply<std::string> reply) { reply(*text); });
  EXPECT_TRUE(waited<std::string>([&](auto reply) { changing->next(std::move(reply)); }));
  text->back() = 'b';
  const auto changed = waited<std::string>([&](auto reply) { changing->next(std::move(reply)); });
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().kind, ErrorKind::stale);
}

TEST(Framing, IsClearOrRefused) {
  const auto is_clear = [](std::vector<std::pair<std::string, std::string>> headers) {
    return HttpRequest{"GET", "/", std::move(headers)}.is_well_framed();
  };
  EXPECT_TRUE(is_clear({}));
  EXPECT_TRUE(is_clear({{"content-length", "5"}}));
  EXPECT_TRUE(is_clear({{"Transfer-Encoding", "Chunked"}}));
  EXPECT_FALSE(is_clear({{"Content-Length", "5"}, {"Content-Length", "6"}}));
  EXPECT_FALSE(is_clear({{"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}}));
  for (const char* length : {"", "-1", "+5", "5, 5", "0x5", " "}) EXPECT_FALSE(is_clear({{"Content-Length", length}}));
  for (const char* coding : {"", "x", "gzip, chunked", "identity"})
    EXPECT_FALSE(is_clear({{"Transfer-Encoding", coding}}));
}

TEST_F(HttpServiceTest, TellsAttributes) {
  auto request = std::make_shared<HttpRequest>();
  request->query.emplace_back("attributes", "");
  const auto attributes = [&](const std::string& name) {
    return text_of(*waited<HttpResponse>([&](auto reply) {
      service_.answer(request, {{name}, false}, std::move(reply));
    }));
  };
  request->method = "GET";
  EXPECT_NE(attributes("note").find("\"class\": "), std::string::npos) << attributes("note");
  EXPECT_NE(attributes(".tfilefs").find("\"type\": \"directory\""), std::string::npos);
  EXPECT_NE(attributes(".tfilefs").find("\"attributes\": {}"), std::string::npos);
}

TEST_F(HttpServiceTest, RefusesTheRest) {
  EXPECT_EQ(ask("GET", "/missing").status, 404);
  EXPECT_EQ(ask("GET", "/note/object.bin/").status, 404);
  EXPECT_EQ(ask("GET", "/note/object.bin/x").status, 404);
  EXPECT_EQ(ask("GET", "/../note").status, 400);
  EXPECT_EQ(ask("PUT", "/note").status, 405);
  EXPECT_EQ(ask("GET", "/", {{"Origin", "http://evil.example"}}).status, 403);
  EXPECT_EQ(at_once({"GET", "/", {{"Host", "localhost"}}})->status, 401);
  EXPECT_EQ(at_once({"PUT", "/", {{"Host", "localhost"}}})->status, 401);
  EXPECT_EQ(at_once({"GET", "/", {{"Host", "evil.example"}}})->status, 421);
  EXPECT_EQ(at_once({"GET", "/"})->status, 421);
  EXPECT_EQ(at_once({"GET", "/", {{"Host", "localhost"}, {"host", "localhost"}}})->status, 400);
}

TEST_F(HttpServiceTest, PutsTheTokenOfAUrlIntoACookie) {
  const auto page = at_once({"GET",
                             "/note/",
                             {{"Host", "localhost"}, {"Accept", "text/html"}, {"Sec-Fetch-Mode", "navigate"}},
                             {{"token", kTokenOfTest}, {"json", "<"}}});
  ASSERT_TRUE(page);
  EXPECT_EQ(header_of(*page, "Set-Cookie"), "tfilefs-80=abcdefghijklmnop; Path=/; HttpOnly; SameSite=Strict");
  EXPECT_NE(text_of(*page).find("url=/note/?json=%3C\""), std::string::npos);
  EXPECT_EQ(text_of(*page).find(kTokenOfTest), std::string::npos);
  // A program that says it takes HTML wants the bytes.
  EXPECT_FALSE(
      at_once({"GET", "/note/", {{"Host", "localhost"}, {"Accept", "text/html, */*"}}, {{"token", kTokenOfTest}}}));
}

}  // namespace
}  // namespace tfilefs
