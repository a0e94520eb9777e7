// What the file processor writes into a message's row, and how it recognises that again.
#pragma once

#include <string>
#include <vector>

#include "apps/archive/message.h"
#include "tables/requests.h"

namespace tidemark::archive {

// What became of the files of a message.
struct FilesUpdate {
  std::vector<std::string> uris;  // Of those that are stored, and are not in the row yet.
  std::string error = {};         // Empty: nothing is missing, and a flag of before goes.
};

// Adds the URIs and sets or clears the flag, unless the message is gone or its content was purged.
tables::UpdateRequest UpdateOfFiles(const std::string& table, const Message& message,
                                    const FilesUpdate& update);

// Whether the change is nothing but such an update: its images differ in the processor's attributes
// alone. One that takes the flag away is none: it may be somebody's wish that it be tried again.
bool IsOfFilesAlone(const tables::StreamRecord& record);

}  // namespace tidemark::archive
