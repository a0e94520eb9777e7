// Writes a zip file of these texts, by their names. The test program links libzip.
#pragma once

#include <map>
#include <string>

#include <zip.h>

#include "base/check.h"

namespace tidemark::testing {

inline void WriteZip(const std::map<std::string, std::string>& texts, const std::string& path) {
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  CHECK(archive != nullptr);
  for (const auto& [name, text] : texts) {
    zip_source_t* source = zip_source_buffer(archive, text.data(), text.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    CHECK(index >= 0);
    // As it is, so that a test finds its text in the file.
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  }
  CHECK(zip_close(archive) == 0);
}

}  // namespace tidemark::testing
