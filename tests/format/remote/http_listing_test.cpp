// SPDX-License-Identifier: Apache-2.0
// What servers of HTTP and S3 write as lists of directories, and what they should not.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "remote/http/http_autoindex.h"
#include "remote/http/http_dav.h"
#include "remote/http/http_s3_listing.h"
#include "remote/http/http_xml.h"

namespace tfile {
namespace {

std::span<const std::byte> body_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// "name size date" of files, "name/" of directories.
std::vector<std::string> told(const RemoteListing& listing) {
  std::vector<std::string> lines;
  for (const RemoteEntry& entry : listing.entries)
    lines.push_back(entry.is_directory ? entry.name + "/"
                                       : entry.name + " " + std::to_string(entry.size) + " " +
                                             std::to_string(entry.modified_ns / 1'000'000'000));
  return lines;
}
using Lines = std::vector<std::string>;

// ---- XML

// "path=text" of each element.
Result<Lines> elements(std::string_view xml, std::size_t piece = SIZE_MAX) {
  Lines found;
  XmlReader reader([&](std::span<const std::string> path, std::string_view text) -> Result<> {
    std::string line;
    for (const std::string& name : path) line += (line.empty() ? "" : "/") + name;
    found.push_back(line + "=" + std::string(text));
    return {};
  });
  for (; !xml.empty(); xml.remove_prefix(std::min(piece, xml.size())))
    TRY_VOID(reader.feed(body_bytes(xml.substr(0, piece))));
  TRY_VOID(reader.finish());
  return found;
}

TEST(XmlReader, TellsElementsWithoutNamespacesInWhateverPiecesTheyCome) {
  const std::string xml = "<?xml version=\"1.0\"?><D:a xmlns:D=\"DAV:\"><b>x&amp;y</b><D:c q=\"1\"/>t</D:a>";
  const Lines wanted = {"a/b=x&y", "a/c=", "a=t"};
  for (const std::size_t piece : {SIZE_MAX, std::size_t{1}, std::size_t{7}})
    EXPECT_EQ(elements(xml, piece).value(), wanted);
}

TEST(XmlReader, RefusesWhatIsNoXmlOrBeyondABound) {
  std::string deep, deep_end;
  for (int i = 0; i < 40; ++i) deep += "<a>", deep_end += "</a>";
  const std::string bomb =
      "<!DOCTYPE a [<!ENTITY x \"xxxxxxxxxx\"><!ENTITY y \"&x;&x;&x;&x;&x;&x;\">]><a>&y;&y;&y;</a>";
  for (const std::string& xml :
       {std::string(), std::string("text"), std::string("<a>"), std::string("<a></b>"), std::string("<a/><b/>"),
        std::string("<a>&unknown;</a>"), std::string("<a>\x01</a>"), bomb,
        std::string("<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>"), deep + deep_end,
        "<a>" + std::string(20'000, 'x') + "</a>", "<a " + std::string(400'000, 'x') + "=\"\"/>"}) {
    const auto found = elements(xml);
    ASSERT_FALSE(found) << xml.substr(0, 60);
    EXPECT_EQ(found.error().kind, ErrorKind::damaged);
  }
}

// ---- PROPFIND

std::string response(const std::string& href, const std::string& properties) {
  return "<D:response><D:href>" + href + "</D:href><D:propstat><D:prop>" + properties +
         "</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>";
}
const std::string kCollection = "<D:resourcetype><D:collection/></D:resourcetype>";
std::string file_of(int size) {
  return "<D:resourcetype/><D:getcontentlength>" + std::to_string(size) +
         "</D:getcontentlength><D:getlastmodified>Wed, 25 Nov 2026 03:30:09 GMT</D:getlastmodified>";
}
std::string multistatus(const std::string& responses) {
  return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:multistatus xmlns:D=\"DAV:\">" + responses +
         "</D:multistatus>";
}

Result<RemoteListing> dav(const std::string& xml, const std::string& url = "http://host/data/") {
  DavListing listing;
  TRY_VOID(listing.feed(body_bytes(xml)));
  return std::move(listing).finish(url);
}

TEST(DavListing, TellsNamesKindsSizesAndDates) {
  const auto found =
      dav(multistatus(response("/data/", kCollection) + response("/data/b.root", file_of(7)) +
                      response("http://host/data/a%20b%2525.root", file_of(0)) + response("/data//sub/", kCollection)));
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(told(*found), (Lines{"a b%25.root 0 1795577409", "b.root 7 1795577409", "sub/"}));
  EXPECT_TRUE(found->left_out.empty());
}

TEST(DavListing, OneNameThatIsNotEncodedTellsThatNoneIs) {
  const auto found = dav(multistatus(response("/data/", kCollection) + response("/data/a b#c?d", file_of(1)) +
                                     response("/data/x%41", file_of(2))));
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(told(*found), (Lines{"a b#c?d 1 1795577409", "x%41 2 1795577409"}));
}

// A property that is not there comes in a part with the status 404.
TEST(DavListing, TakesWhatIsThereOfAFile) {
  const auto found = dav(multistatus(
      response("/data", kCollection) +
      "<D:response><D:href>/data/f</D:href><D:propstat><D:prop><D:getcontentlength>9</D:getcontentlength></D:prop>"
      "</D:propstat><D:propstat><D:prop><D:getcontentlength/><D:getlastmodified/></D:prop><D:status>HTTP/1.1 404 Not "
      "Found</D:status></D:propstat></D:response>"));
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(told(*found), Lines{"f 9 0"});
}

TEST(DavListing, ADateBeyondTheClockIsNone) {
  const auto found = dav(multistatus(response("/data/", kCollection) +
                                     response("/data/f",
                                              "<D:resourcetype/><D:getcontentlength>1</D:getcontentlength>"
                                              "<D:getlastmodified>Fri, 31 Dec 9999 23:59:59 GMT</D:getlastmodified>")));
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(told(*found), Lines{"f 1 0"});
  const auto listed =
      read_autoindex("[{\"name\":\"f\", \"type\":\"file\", \"size\":1, \"mtime\":\"Fri, 31 Dec 9999 23:59:59 GMT\"}]");
  ASSERT_TRUE(listed) << listed.error().text;
  EXPECT_EQ(told(*listed), Lines{"f 1 0"});
}

TEST(DavListing, ServersBehindAProxyNameOtherPaths) {
  const auto found = dav(multistatus(response("/inside/data/f", file_of(1)) + response("/inside/data/", kCollection)));
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(told(*found), Lines{"f 1 1795577409"});
}

TEST(DavListing, NamesThatLeadElsewhereAreLeftOut) {
  const auto found = dav(multistatus(response("/data/", kCollection) + response("/data/../etc/passwd", file_of(1)) +
                                     response("/data/%2e%2e", kCollection) + response("/data/a%2Fb", file_of(1)) +
                                     response("/data/sub/deep", file_of(1)) + response("/other/f", file_of(1)) +
                                     response("/data/z%00", file_of(1)) + response("/data/good", file_of(1)) +
                                     response("/data/" + std::string(300, 'n'), file_of(1))));
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(told(*found), Lines{"good 1 1795577409"});
  EXPECT_EQ(found->left_out.size(), 7u);
}

TEST(DavListing, AFileIsNoDirectoryAndNothingIsNoList) {
  EXPECT_EQ(dav(multistatus(response("/data", file_of(3)))).error().kind, ErrorKind::invalid);
  for (const std::string& xml : {std::string(), std::string("<html><body>index</body></html>"), multistatus(""),
                                 multistatus(response("/data/", kCollection)).substr(0, 90)})
    EXPECT_EQ(dav(xml).error().kind, ErrorKind::damaged) << xml;
}

// ---- nginx

TEST(Autoindex, TellsNamesKindsSizesAndDates) {
  const auto found = read_autoindex(
      "[\n{ \"name\":\"sub\", \"type\":\"directory\", \"mtime\":\"Wed, 25 Nov 2026 03:30:09 GMT\" },\n"
      "{ \"name\":\"a \\u0007\\\"b.root\", \"type\":\"file\", \"mtime\":\"Wed, 25 Nov 2026 03:30:09 GMT\", \"size\":12 "
      "},\n"
      "{ \"name\":\"fifo\", \"type\":\"other\" }, {\"name\":\"\xc3\xa9\", \"type\":\"file\", \"size\":5000000000}]");
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(told(*found), (Lines{"a \a\"b.root 12 1795577409", "sub/", "\xc3\xa9 5000000000 0"}));
  EXPECT_EQ(found->left_out, Lines{"\"fifo\" is left out: it is neither a file nor a directory"});
  EXPECT_TRUE(read_autoindex("[]").value().entries.empty());
}

TEST(Autoindex, NamesAreBytes) {
  const auto found = read_autoindex(
      "[{\"name\":\"caf\xe9.root\", \"type\":\"file\", \"size\":1},"
      "{\"name\":\"\xc3\xa9\", \"type\":\"directory\"}]");
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(told(*found), (Lines{"caf\xe9.root 1 0", "\xc3\xa9/"}));
}

TEST(Autoindex, WhatIsNoListIsRefused) {
  for (const char* text : {"", "{}", "[", "[1]", "[{\"name\":\"a\"}", "{\"name\":\"a\",\"type\":\"file\"}", "[[]]x",
                           "null", "<html></html>", "[\"a\"]"})
    EXPECT_FALSE(read_autoindex(text)) << text;
  const auto nested =
      read_autoindex("[{\"name\":\"a\",\"type\":\"file\",\"size\":{\"x\":[{\"name\":\"b\",\"type\":\"file\"}]}}]");
  ASSERT_TRUE(nested);
  EXPECT_EQ(told(*nested), Lines{"a 0 0"});
  EXPECT_FALSE(read_autoindex(std::string(100'000, '[')));
}

// ---- S3

struct Page {
  RemoteListing listing;
  std::size_t count;
  std::string next;
};
Result<Page> s3_page(const std::string& xml, const std::string& prefix) {
  ListingDraft draft;
  S3Page page(prefix, draft);
  TRY_VOID(page.feed(body_bytes(xml)));
  TRY(S3Page::End end, std::move(page).finish());
  return Page{std::move(draft).finish(), end.count, end.next};
}
std::string bucket_result(const std::string& rest) {
  return "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" + rest +
         "</ListBucketResult>";
}
std::string listed(const std::string& key, int size) {
  return "<Contents><Key>" + key + "</Key><LastModified>2026-11-25T03:30:09.000Z</LastModified><Size>" +
         std::to_string(size) + "</Size></Contents>";
}

TEST(S3Page, TellsKeysBelowAPrefix) {
  const auto page =
      s3_page(bucket_result("<IsTruncated>false</IsTruncated>" + listed("run 1/", 0) + listed("run 1/a+b%20.root", 5) +
                            "<CommonPrefixes><Prefix>run 1/sub/</Prefix></CommonPrefixes>"),
              "run 1/");
  ASSERT_TRUE(page) << page.error().text;
  EXPECT_EQ(told(page->listing), (Lines{"a+b%20.root 5 1795577409", "sub/"}));
  EXPECT_EQ(page->count, 3u);
  EXPECT_EQ(page->next, "");
}

TEST(S3Page, KeysMayComeEncoded) {
  const auto page = s3_page(
      bucket_result(listed("d/a+%2B%0A.root", 5) + "<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
                                                   "<NextContinuationToken>1/t=+</NextContinuationToken>"),
      "d/");
  ASSERT_TRUE(page) << page.error().text;
  EXPECT_EQ(told(page->listing), Lines{"a +\n.root 5 1795577409"});
  EXPECT_EQ(page->next, "1/t=+");
}

TEST(S3Page, KeysThatAreNoNamesAreLeftOut) {
  const auto page = s3_page(bucket_result(listed("other/f", 1) + listed("d/..", 1) + listed("d/a/b", 1) +
                                          "<CommonPrefixes><Prefix>d//</Prefix></CommonPrefixes>" + listed("d/x", 1) +
                                          "<CommonPrefixes><Prefix>d/x/</Prefix></CommonPrefixes>"),
                            "d/");
  ASSERT_TRUE(page) << page.error().text;
  EXPECT_EQ(told(page->listing), Lines{"x 1 1795577409"});
  EXPECT_EQ(page->listing.left_out.size(), 5u);
}

TEST(S3Page, AListThatGoesOnMustSayWhere) {
  EXPECT_EQ(s3_page(bucket_result("<IsTruncated>true</IsTruncated>"), "").error().kind, ErrorKind::damaged);
}

TEST(S3Page, ParametersAreSortedAndEncoded) {
  EXPECT_EQ(s3_page_query("", ""), "?delimiter=%2F&encoding-type=url&list-type=2");
  EXPECT_EQ(s3_page_query("a b/c+/", "x/y="),
            "?continuation-token=x%2Fy%3D&delimiter=%2F&encoding-type=url&list-type=2&prefix=a%20b%2Fc%2B%2F");
}

TEST(S3Page, Dates) {
  EXPECT_EQ(time_of_iso_date("2026-11-25T03:30:09.000Z"), 1795577409'000'000'000);
  for (const char* text : {"", "yesterday", "1969-01-01T00:00:00Z", "999999999-01-01T00:00:00Z"})
    EXPECT_EQ(time_of_iso_date(text), 0) << text;
}

// ---- any bytes

std::string damaged(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  for (std::size_t changes = 1 + below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = below(text.size()), size = std::min(text.size() - at, 1 + below(40));
    switch (below(4)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, size);
        break;
      case 2:
        text.insert(below(text.size()), text.substr(at, size));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

void check_names(const RemoteListing& listing) {
  for (std::size_t i = 0; i < listing.entries.size(); ++i) {
    const std::string& name = listing.entries[i].name;
    EXPECT_FALSE(name.empty() || name == "." || name == ".." || name.size() > 255);
    EXPECT_EQ(name.find_first_of(std::string("/\0", 2)), std::string::npos);
    EXPECT_TRUE(i == 0 || listing.entries[i - 1].name < name);
  }
}

// Whatever comes, names are names, and damage is told of as such.
TEST(RemoteListings, AnyBytesGiveNamesOrAnError) {
  const std::vector<std::pair<std::string, std::function<Result<RemoteListing>(const std::string&)>>> kinds = {
      {multistatus(response("/data/", kCollection) + response("/data/b%20.root", file_of(7)) +
                   response("/data/sub/", kCollection)),
       [](const std::string& text) { return dav(text); }},
      {"[{\"name\":\"sub\",\"type\":\"directory\"},{\"name\":\"\xe9\\u0041.root\",\"type\":\"file\",\"size\":12}]",
       [](const std::string& text) { return read_autoindex(text); }},
      {bucket_result("<IsTruncated>false</IsTruncated>" + listed("d/a", 0) +
                     "<CommonPrefixes><Prefix>d/sub/</Prefix></CommonPrefixes><EncodingType>url</EncodingType>"),
       [](const std::string& text) -> Result<RemoteListing> {
         TRY(Page page, s3_page(text, "d/"));
         return std::move(page.listing);
       }},
  };
  std::mt19937 random(1);
  std::size_t good = 0, bad = 0;
  for (const auto& [text, read] : kinds) {
    EXPECT_TRUE(read(text)) << text;
    for (int i = 0; i < 5'000; ++i) {
      const auto listing = read(damaged(text, random));
      ++(listing ? good : bad);
      if (listing) check_names(*listing);
    }
  }
  EXPECT_GT(good, 100u);
  EXPECT_GT(bad, 1'000u);
}

}  // namespace
}  // namespace tfile
