#include "base/sealed.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

Secret Key(char c = 'k') { return Secret(std::string(kSealKeyBytes, c)); }

TEST(SealedTest, OpensWithTheSameKeyAndPlace) {
  SeededRandom random(1);
  for (const std::string& text : {std::string(), std::string("secret"), std::string(1000, 'x')}) {
    const std::string sealed = Seal(Key(), text, "row 1", random);
    EXPECT_EQ(sealed.size(), text.size() + 28);
    const auto opened = Unseal(Key(), sealed, "row 1");
    ASSERT_TRUE(opened.has_value());
    EXPECT_EQ(opened->Reveal(), text);
    EXPECT_NE(Seal(Key(), text, "row 1", random), sealed);
  }
}

TEST(SealedTest, DoesNotOpenOtherwise) {
  SeededRandom random(1);
  const std::string sealed = Seal(Key(), "secret", "row 1", random);
  EXPECT_FALSE(Unseal(Key('l'), sealed, "row 1"));
  EXPECT_FALSE(Unseal(Key(), sealed, "row 2"));
  for (size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] ^= 1;
    EXPECT_FALSE(Unseal(Key(), changed, "row 1")) << i;
    EXPECT_FALSE(Unseal(Key(), sealed.substr(0, i), "row 1")) << i;
  }
}

// Case 16 of the GCM specification's test vectors (AES-256 with associated data): its nonce is not
// random here, so only opening can be tested.
TEST(SealedTest, IsAes256Gcm) {
  const auto bytes = [](std::string_view hex) {
    std::string out;
    for (size_t i = 0; i < hex.size(); i += 2) {
      out.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
    }
    return out;
  };
  const Secret key(bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"));
  const std::string sealed = bytes(
      "cafebabefacedbaddecaf888"
      "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
      "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
      "76fc6ece0f4e1768cddf8853bb2d551b");
  const auto opened = Unseal(key, sealed, bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2"));
  ASSERT_TRUE(opened.has_value());
  EXPECT_EQ(opened->Reveal(),
            bytes("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                  "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"));
}

}  // namespace
}  // namespace tidemark
