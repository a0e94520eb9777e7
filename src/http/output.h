// The bytes of replies that wait to be sent: heads and small bodies in one string, and after them
// the parts of a large body, which are not copied.
//
//   const size_t count = output.Gather(pieces);  // What is sent next.
//   output.Sent(bytes);
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared_text.h"

namespace tidemark::http {

class Output {
 public:
  // Where heads and small bodies are appended, as long as there are no parts.
  std::string& bytes() { return bytes_; }
  const std::string& bytes() const { return bytes_; }
  void Add(std::vector<SharedText> parts);

  bool has_parts() const { return next_ < parts_.size(); }
  // The bytes of the parts that are still in memory. A part is released when all of it is sent.
  size_t PartBytes() const { return part_bytes_; }
  bool empty() const { return sent_ == bytes_.size() && !has_parts(); }

  // Fills the pieces with what is sent next, in order, none of them empty. Returns their number,
  // which is at least one unless the output is empty or `pieces` is.
  size_t Gather(std::span<std::string_view> pieces) const;
  // So many bytes of it were sent. A part that was sent is released.
  void Sent(size_t count);
  // Keeps the memory of the bytes for the next replies.
  void clear();

 private:
  std::string bytes_;
  size_t sent_ = 0;  // Of the bytes.
  std::vector<SharedText> parts_;
  size_t next_ = 0;          // The first part that is not completely sent.
  size_t sent_of_part_ = 0;  // Of that part.
  size_t part_bytes_ = 0;
};

}  // namespace tidemark::http
