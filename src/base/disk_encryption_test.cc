#include "base/disk_encryption.h"

#include <filesystem>
#include <fstream>
#include <sys/sysmacros.h>

#include <gtest/gtest.h>

#include "tests/support/temp_folder.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

// A fake sysfs with the devices that a test adds.
class DiskEncryptionTest : public ::testing::Test {
 protected:
  // Adds a device. With a uuid it is a device of the device mapper.
  void Plant(const std::string& name, const std::string& uuid = "") {
    fs::create_directories(Block(name) / "slaves");
    if (uuid.empty()) return;
    fs::create_directories(Block(name) / "dm");
    std::ofstream(Block(name) / "dm" / "uuid") << uuid << '\n';
  }
  void LiesOn(const std::string& upper, const std::string& lower) {
    fs::create_directory_symlink(Block(lower), Block(upper) / "slaves" / lower);
  }
  // The device has the numbers 8:1.
  DiskEncryption Of(const std::string& name) {
    fs::create_directories(folder_.path() + "/dev/block");
    const std::string link = folder_.path() + "/dev/block/8:1";
    fs::remove(link);
    fs::create_directory_symlink(Block(name), link);
    return EncryptionOfDevice(makedev(8, 1), folder_.path());
  }

 private:
  fs::path Block(const std::string& name) const { return folder_.path() + "/block/" + name; }
  TempFolder folder_;
};

// LUKS, alone and below a logical volume.
// Spec: 002-75
TEST_F(DiskEncryptionTest, SeesDmCryptAtAnyDepth) {
  Plant("sda");
  Plant("crypt", "CRYPT-LUKS2-0123-data");
  LiesOn("crypt", "sda");
  Plant("volume", "LVM-abc");
  LiesOn("volume", "crypt");
  EXPECT_EQ(Of("crypt"), DiskEncryption::kEncrypted);
  EXPECT_EQ(Of("volume"), DiskEncryption::kEncrypted);
  EXPECT_EQ(Of("sda"), DiskEncryption::kNotSeen);
}

// A volume on two disks is encrypted only if both are.
TEST_F(DiskEncryptionTest, OneUnencryptedDiskMakesTheFolderUnencrypted) {
  Plant("sdb");
  Plant("crypt", "CRYPT-LUKS2-0123-data");
  Plant("volume", "LVM-abc");
  LiesOn("volume", "crypt");
  LiesOn("volume", "sdb");
  EXPECT_EQ(Of("volume"), DiskEncryption::kNotSeen);
}

// The file system of a network or a container has no block device on this machine.
TEST_F(DiskEncryptionTest, SaysUnknownWithoutADevice) {
  Plant("sda");
  EXPECT_EQ(Of("sda"), DiskEncryption::kNotSeen);
  EXPECT_EQ(EncryptionOfDevice(makedev(0, 42), "/nowhere"), DiskEncryption::kUnknown);
  EXPECT_EQ(EncryptionOf("/nowhere/at/all"), DiskEncryption::kUnknown);
}

}  // namespace
}  // namespace tidemark
