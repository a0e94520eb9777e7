#include "base/zip.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <zip.h>

namespace tidemark {
namespace {

namespace fs = std::filesystem;

class ZipTest : public ::testing::Test {
 protected:
  ZipTest() : folder_((fs::temp_directory_path() / "tidemark-zip-XXXXXX").string()) {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~ZipTest() override { fs::remove_all(folder_); }

  std::string path() const { return folder_ + "/a.zip"; }

  struct Packed {
    std::string name;
    std::string text;
    bool plain = false;  // Stored without compression.
  };

  void Pack(const std::vector<Packed>& files) {
    int code = 0;
    zip_t* archive = zip_open(path().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
    ASSERT_NE(archive, nullptr);
    for (const Packed& file : files) {
      zip_source_t* source = zip_source_buffer(archive, file.text.data(), file.text.size(), 0);
      const zip_int64_t index = zip_file_add(archive, file.name.c_str(), source, ZIP_FL_ENC_UTF_8);
      ASSERT_GE(index, 0);
      if (file.plain) {
        zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
      }
    }
    ASSERT_EQ(zip_close(archive), 0);
  }

  std::string Bytes() const {
    std::ifstream file(path(), std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void Overwrite(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes;
  }

  static Result<std::string> ReadAll(ZipFile& zip, const ZipEntry& entry) {
    std::string text;
    TRY(zip.Read(entry, [&](std::string_view piece) -> Status {
      text += piece;
      return Done{};
    }));
    return text;
  }

  std::string folder_;
};

// Files are read as they were packed, also those larger than one piece. Folders are not listed.
TEST_F(ZipTest, GivesBackWhatWasPacked) {
  const std::string large(1'000'000, 'x');
  Pack({{"a/b.json", "[1]"}, {"large", large}, {"empty", ""}});
  auto zip = ZipFile::Open(path());
  ASSERT_TRUE(zip.has_value()) << zip.error().message;
  ASSERT_EQ(zip->entries().size(), 3u);
  EXPECT_EQ(zip->entries()[0].name, "a/b.json");
  EXPECT_EQ(*ReadAll(*zip, zip->entries()[0]), "[1]");
  EXPECT_EQ(*ReadAll(*zip, zip->entries()[1]), large);
  EXPECT_EQ(*ReadAll(*zip, zip->entries()[2]), "");
}

TEST_F(ZipTest, AMissingFileIsNotFound) {
  EXPECT_EQ(ZipFile::Open(path()).error().code, ErrorCode::kNotFound);
}

// When a download breaks off, the end of the file is missing, and with it the list of files.
TEST_F(ZipTest, RefusesATruncatedFile) {
  Pack({{"a", std::string(10'000, 'a')}, {"b", "text"}});
  const std::string bytes = Bytes();
  for (size_t size : {size_t{0}, size_t{10}, bytes.size() / 2, bytes.size() - 1}) {
    Overwrite(bytes.substr(0, size));
    auto zip = ZipFile::Open(path());
    ASSERT_FALSE(zip.has_value()) << size;
    EXPECT_EQ(zip.error().code, ErrorCode::kInvalid);
    EXPECT_NE(zip.error().message.find("cannot be read as a zip file"), std::string::npos);
  }
}

// The checksum of the content is compared.
TEST_F(ZipTest, DetectsDamagedContent) {
  Pack({{"a", std::string(10'000, 'a'), true}});
  std::string bytes = Bytes();
  bytes[bytes.find("aaaa") + 5'000] = 'b';
  Overwrite(bytes);
  auto zip = ZipFile::Open(path());
  ASSERT_TRUE(zip.has_value());
  auto text = ReadAll(*zip, zip->entries()[0]);
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, ErrorCode::kCorrupt);
}

// The caller can stop the reading.
TEST_F(ZipTest, AnErrorOfTheCallerEndsTheReading) {
  Pack({{"a", std::string(1'000'000, 'a')}});
  auto zip = ZipFile::Open(path());
  ASSERT_TRUE(zip.has_value());
  int pieces = 0;
  Status status = zip->Read(zip->entries()[0], [&](std::string_view) -> Status {
    ++pieces;
    return Invalid("enough");
  });
  EXPECT_EQ(status.error().message, "enough");
  EXPECT_EQ(pieces, 1);
}

// More than 65,535 files need zip64's directory.
TEST_F(ZipTest, ReadsZip64) {
  std::vector<Packed> files;
  for (int i = 0; i < 66'000; ++i) files.push_back({std::to_string(i), "[]", true});
  Pack(files);
  EXPECT_NE(Bytes().find("PK\x06\x06"), std::string::npos);
  auto zip = ZipFile::Open(path());
  ASSERT_TRUE(zip.has_value()) << zip.error().message;
  ASSERT_EQ(zip->entries().size(), 66'000u);
  EXPECT_EQ(zip->entries().back().name, "65999");
  EXPECT_EQ(*ReadAll(*zip, zip->entries().back()), "[]");
}

}  // namespace
}  // namespace tidemark
