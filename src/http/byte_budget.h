// A ByteBudget limits how many bytes of bodies are in memory at once, in total and for each
// address.
//
//   TakenBytes taken(&budget, address);
//   if (!taken.RaiseTo(body.size())) ...  // There are too many.
//
// A ByteBudget may be used from any thread, a TakenBytes by one at a time.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>

namespace tidemark::http {

class ByteBudget {
 public:
  ByteBudget(size_t max_bytes, size_t max_bytes_per_address)
      : max_bytes_(max_bytes), max_bytes_per_address_(max_bytes_per_address) {}

  // False when the sum of all, or of this address, would exceed its limit. Otherwise the bytes are
  // counted until they are given back.
  bool Take(const std::string& address, size_t bytes);
  void Give(const std::string& address, size_t bytes);

 private:
  const size_t max_bytes_;
  const size_t max_bytes_per_address_;
  std::mutex mutex_;
  size_t bytes_ = 0;
  std::unordered_map<std::string, size_t> by_address_;
};

// The bytes that one connection has taken. The destructor gives them back.
class TakenBytes {
 public:
  // The budget outlives this; null: nothing is counted.
  TakenBytes(ByteBudget* budget, std::string address);
  ~TakenBytes() { GiveBack(); }
  TakenBytes(const TakenBytes&) = delete;
  TakenBytes& operator=(const TakenBytes&) = delete;

  // Takes what is missing to this number. False: the budget does not have it, and nothing changes.
  bool RaiseTo(size_t bytes);
  // Gives back what is above this number.
  void LowerTo(size_t bytes);
  void GiveBack() { LowerTo(0); }

 private:
  ByteBudget* const budget_;
  const std::string address_;
  size_t bytes_ = 0;
};

}  // namespace tidemark::http
