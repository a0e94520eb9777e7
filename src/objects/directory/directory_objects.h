// DirectoryObjects keeps a bucket in a folder of the local file system; docs/formats/objects.md
// says how. A put is: temporary file → sync → rename → sync of the folder, so that a crash leaves
// the old object or the new one, and at most a temporary file, which the next Open of the folder
// removes.
//
//   auto objects = TRY(DirectoryObjects::Open("data/objects", clock, random));
//
// One process at a time has the folder open; a lock file says so.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "objects/objects.h"

namespace tidemark::directory {

class FileOps;

class DirectoryObjects final : public objects::Objects {
 public:
  // Makes the folder unless it is there; the folder around it is. kInUse when another process has
  // it open, kInvalid when its file system cannot keep objects. Clock and random outlive this.
  // `files` is for tests, which stand between this and the system; it outlives this too.
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
