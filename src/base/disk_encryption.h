// Finds out whether a folder is on an encrypted disk, as far as the kernel knows: on a device of
// dm-crypt (LUKS), or on a device that is built only on such devices.
//
// May be called from any thread. It never writes.
#pragma once

#include <cstdint>
#include <string>

namespace tidemark {

enum class DiskEncryption {
  kEncrypted,
  kNotSeen,  // Encryption outside of the kernel, such as a cloud's, is not visible.
  kUnknown,  // Not on a block device of this machine, or the kernel does not say.
};

// For the disk that a file or folder is on.
DiskEncryption EncryptionOf(const std::string& path);

// The same for a device by its numbers. `sys` is where sysfs is mounted.
DiskEncryption EncryptionOfDevice(uint64_t device, const std::string& sys = "/sys");

}  // namespace tidemark
