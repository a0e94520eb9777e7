// LogTail distinguishes the torn end of a write-ahead log, which any crash may leave, from damage
// in front of acknowledged records. RocksDB cannot do this: depending on its recovery mode, it
// takes a damaged length for a torn end, or a torn end for damage.
//
//   LogTail tail;
//   while (... another block of kBlockBytes, the last may be shorter ...) tail.Add(block);
//   if (tail.end() == LogEnd::kDamaged) refuse;
//
// A log is synced with every group of writes, so a crash can tear only the last batch. If a whole
// batch with a higher sequence number follows the first unreadable place, the log is damaged. In
// the every-second mode a power cut can leave such a log too. Then the durable mark shows whether
// the missing changes were synced (Store::Rep::EndLogs).
//
// One object reads one log, on one thread. The format is RocksDB's, without recycling and
// compression.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::embedded {

enum class LogEnd {
  kWhole,
  kTorn,     // The log breaks off, and nothing acknowledged follows.
  kDamaged,  // Whole records follow an unreadable place.
};

class LogTail {
 public:
  static constexpr size_t kBlockBytes = 32'768;

  // The next block of the log, in order.
  void Add(std::string_view block);
  LogEnd end() const { return end_; }
  // Of the batches that were read completely; 0 when there is none.
  uint64_t first_sequence() const { return first_sequence_; }
  // Where the last of them ends in the log.
  uint64_t whole_bytes() const { return whole_bytes_; }
  uint64_t last_sequence() const { return next_sequence_ > 0 ? next_sequence_ - 1 : 0; }

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
  uint64_t first_sequence_ = 0;
  uint64_t next_sequence_ = 0;   // Of the batch that must follow the complete ones.
  uint64_t sequence_after_ = 0;  // Of the batch after the one being read.
  uint64_t read_bytes_ = 0;      // Of the blocks before this one.
  uint64_t whole_bytes_ = 0;
};

}  // namespace tidemark::embedded
