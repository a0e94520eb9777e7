// LogTail tells the torn end of a write-ahead log, which any crash may leave, from damage in
// front of records that were acknowledged. RocksDB itself cannot: whichever way it is asked to
// recover, it either takes a damaged length for a torn end, or a torn end for damage.
//
//   LogTail tail;
//   while (... another block of kBlockBytes, the last may be shorter ...) tail.Add(block);
//   if (tail.end() == LogEnd::kDamaged) refuse;
//
// A log is synced with every group of writes, so that a crash tears at most the last batch. A whole
// batch with a later number behind the first unreadable place therefore proves damage; only in the
// every-second mode can a power cut leave such a log too, and it is refused all the same. For one
// log and one thread. The format is RocksDB's, without recycling and compression.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::embedded {

enum class LogEnd {
  kWhole,
  kTorn,     // Nothing that was acknowledged follows the place where it breaks off.
  kDamaged,  // Whole records follow an unreadable place.
};

class LogTail {
 public:
  static constexpr size_t kBlockBytes = 32'768;

  // The next block of the log, in order.
  void Add(std::string_view block);
  LogEnd end() const { return end_; }

 private:
  // A part of a batch, or a whole one.
  struct Record {
    uint8_t type = 0;
    std::string_view payload;

    bool BeginsBatch() const;
    bool EndsBatch() const;
    uint64_t sequence() const;  // Of the batch that it begins.
    uint64_t next_sequence() const;
  };
  // Reads the record that begins where `bytes` does; false when its checksum is not right.
  static bool Parse(std::string_view bytes, Record* record);
  void Search(std::string_view bytes);

  LogEnd end_ = LogEnd::kWhole;
  uint64_t next_sequence_ = 0;   // Of the batch that must follow those that were read to their end.
  uint64_t sequence_after_ = 0;  // Of the batch that must follow the one being read.
};

}  // namespace tidemark::embedded
