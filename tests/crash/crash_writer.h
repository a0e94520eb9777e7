// The process that kill_test kills. Its writers write to a folder as fast as they can and print
// every acknowledgement to standard output, until they are killed. The program is kill_test itself
// with kCrashWriterFlag, so that a broken variant of the engine is in both.
//
//   kill_test --crash-writer FOLDER synced|every_second SEED NEXT...
//
// One NEXT for each writer: the number of its first operation. Each Acknowledgement is written with
// one call, so that those of several writers do not mix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::crash {

inline constexpr const char* kCrashWriterFlag = "--crash-writer";

// The writer process sends one for each answered operation, in the order of the writer. Plain bytes
// on a pipe between two processes of the same program.
struct Acknowledgement {
  uint32_t writer = 0;
  uint32_t applied = 0;
  uint64_t count = 0;
};

// `arguments` are those after the flag: FOLDER and so on. Returns only when there are no writers.
void RunCrashWriter(const std::vector<std::string>& arguments);

}  // namespace tidemark::crash
