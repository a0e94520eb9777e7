// Whether what is written to a folder is encrypted on its way to the disk, as far as the kernel
// knows: a device of dm-crypt (LUKS), or one that lies on such devices only.
//
// May be called from any thread. It never writes.
#pragma once

#include <cstdint>
#include <string>

namespace tidemark {

enum class DiskEncryption {
  kEncrypted,
  kNotSeen,  // Encryption below the kernel, such as a cloud's, cannot be seen.
  kUnknown,  // No block device of this machine, or the kernel does not say.
};

// Of the disk that a file or folder is on.
DiskEncryption EncryptionOf(const std::string& path);

// The same of a device by its numbers; `sys` is where sysfs is mounted.
DiskEncryption EncryptionOfDevice(uint64_t device, const std::string& sys = "/sys");

}  // namespace tidemark
