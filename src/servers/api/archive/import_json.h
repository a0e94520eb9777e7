// The report of an import as JSON, as `tidemark archive import` prints it and the API returns it.
#pragma once

#include <string>

#include "apps/archive/import.h"
#include "base/json.h"

namespace tidemark::api {

std::string ToJson(const archive::ImportReport& report, archive::ImportMode mode);
// What ToJson wrote. Members that are missing are zero.
archive::ImportReport ReadImportReport(const Json& root);

}  // namespace tidemark::api
