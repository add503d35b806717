// SPDX-License-Identifier: Apache-2.0
#include "http/listing_page.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "http/listen_address.h"
#include "markup.h"

namespace tfilefs {
namespace {

constexpr const char* kScript = "<script>alert('\"&')</script>";

TEST(Markup, HidesWhatHtmlWouldSee) {
  EXPECT_EQ(html_escaped(kScript), "&lt;script&gt;alert(&#39;&quot;&amp;&#39;)&lt;/script&gt;");
  EXPECT_EQ(html_escaped("\xc3\xa9\xff\x01"), "\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
}

std::string text_of_listing(const ListingForm& form, const std::vector<ServedItem>& items) {
  std::string text = form.begin;
  for (const ServedItem& each : items) text += (&each == &items.front() ? form.first : form.between) + form.item(each);
  return text + form.end;
}

TEST(Listing, HasNoMarkupOfNames) {
  const std::vector<ServedItem> items{{kScript, S_IFDIR, std::nullopt, 0}, {"x.f4", S_IFREG, 1234567, std::nullopt}};
  const std::string html = text_of_listing(html_listing({kScript}), items);
  const std::string dav =
      text_of_listing(dav_listing({kScript}, {kScript, S_IFDIR, std::nullopt, std::nullopt}), items);
  for (const std::string& page : {html, dav}) EXPECT_EQ(page.find("<script"), std::string::npos) << page;
  EXPECT_NE(html.find("href=\"x.f4\">x.f4</a>"), std::string::npos);
  EXPECT_NE(html.find("1.2 MB"), std::string::npos);
  EXPECT_EQ(text_of_listing(json_listing({"a"}), {{"x", S_IFREG, 1, 2}, {"l", S_IFLNK, std::nullopt, std::nullopt}}),
            "{\"path\": \"/a/\", \"entries\": [\n{\"name\": \"x\", \"type\": \"file\", \"size\": 1, \"mtime\": 2},\n"
            "{\"name\": \"l\", \"type\": \"link\"}]}\n");
  EXPECT_EQ(json_item({"x", S_IFREG, 1, std::nullopt}, {{"class", "TH1D"}, {"title", "\"<"}}),
            "{\"name\": \"x\", \"type\": \"file\", \"size\": 1, \"attributes\": {\"class\": \"TH1D\", \"title\": "
            "\"\\\"<\"}}\n");
}

TEST(ListenAddress, IsAPortOfAnAddressOrASocket) {
  EXPECT_EQ(parse_listen_address("127.0.0.1:0")->host, "127.0.0.1");
  EXPECT_EQ(parse_listen_address("[::1]:8080")->host, "::1");
  EXPECT_EQ(parse_listen_address("[::1]:8080")->port, "8080");
  EXPECT_EQ(parse_listen_address("unix:/run/x:1")->path, "/run/x:1");
  EXPECT_TRUE(parse_listen_address("systemd")->is_handed_over);
  for (const char* text : {"", "8080", ":8080", "host", "host:", "host:x", "host:65536", "host:-1", "::1:80", "unix:"})
    EXPECT_FALSE(parse_listen_address(text)) << text;
}

}  // namespace
}  // namespace tfilefs
