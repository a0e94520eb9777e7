// DirectoryObjects stores a bucket in a folder of the local file system (docs/formats/objects.md).
// A put is: temporary file → sync → rename → sync of the folder. So a crash leaves the old object
// or the new one, and at most a temporary file, which the next Open removes.
//
//   auto objects = TRY(DirectoryObjects::Open("data/objects", clock, random));
//
// Only one process may have the folder open; it holds a lock file.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "objects/objects.h"

namespace tidemark::directory {

class FileOps;

class DirectoryObjects final : public objects::Objects {
 public:
  // Creates the folder if it is missing; its parent must exist. Fails with kInUse if another
  // process has it open, and with kInvalid if its file system cannot store objects. `files` is for
  // tests that intercept the system calls. Clock, random and files must outlive this.
  static Result<std::unique_ptr<DirectoryObjects>> Open(const std::string& folder,
                                                        const Clock& clock, Random& random,
                                                        FileOps* files = nullptr);
  ~DirectoryObjects() override;

  Result<objects::PutReply> Put(const objects::PutRequest& request) override;
  Result<std::optional<objects::ObjectInfo>> Head(const std::string& key) override;
  Result<std::unique_ptr<objects::OpenObject>> Open(const std::string& key) override;
  Result<objects::DeleteReply> Delete(const objects::DeleteRequest& request) override;
  Result<objects::ListReply> List(const objects::ListRequest& request) override;

 private:
  class State;
  explicit DirectoryObjects(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::directory
