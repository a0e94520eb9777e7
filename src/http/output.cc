#include "http/output.h"

#include <algorithm>
#include <iterator>

namespace tidemark::http {

void Output::Add(std::vector<SharedText> parts) {
  std::erase_if(parts, [](const SharedText& part) { return part->empty(); });
  for (const SharedText& part : parts) part_bytes_ += part->size();
  parts_.insert(parts_.end(), std::make_move_iterator(parts.begin()),
                std::make_move_iterator(parts.end()));
}

size_t Output::Gather(std::span<std::string_view> pieces) const {
  size_t count = 0;
  const auto add = [&](std::string_view piece) {
    if (!piece.empty() && count < pieces.size()) pieces[count++] = piece;
  };
  add(std::string_view(bytes_).substr(sent_));
  for (size_t i = next_; i < parts_.size() && count < pieces.size(); ++i) {
    add(std::string_view(*parts_[i]).substr(i == next_ ? sent_of_part_ : 0));
  }
  return count;
}

void Output::Sent(size_t count) {
  const size_t of_bytes = std::min(count, bytes_.size() - sent_);
  sent_ += of_bytes;
  sent_of_part_ += count - of_bytes;
  while (has_parts() && sent_of_part_ >= parts_[next_]->size()) {
    sent_of_part_ -= parts_[next_]->size();
    part_bytes_ -= parts_[next_]->size();
    parts_[next_++].reset();
  }
}

void Output::clear() {
  bytes_.clear();
  sent_ = 0;
  parts_.clear();
  next_ = 0;
  sent_of_part_ = 0;
  part_bytes_ = 0;
}

}  // namespace tidemark::http
