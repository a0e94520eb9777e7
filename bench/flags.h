// The flags of a benchmark, each with a value.
//
//   const Flags flags(argc, argv, kHelp, {"--seconds", "--rounds"});
//   const double seconds = flags.Number("--seconds", 2);
//
// --help prints the help and ends the program; an unknown flag, a missing value, or a value that
// should be a number ends it too, with an error that names the flag.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "bench/harness.h"

namespace tidemark::bench {

class Flags {
 public:
  Flags(int argc, char** argv, std::string_view help,
        std::initializer_list<std::string_view> known) {
    for (int i = 1; i < argc; i += 2) {
      const std::string_view flag = argv[i];
      if (flag == "--help") {
        fmt::print("{}", help);
        std::exit(0);
      }
      if (std::find(known.begin(), known.end(), flag) == known.end()) {
        Refuse(fmt::format("there is no flag '{}'", flag));
      }
      if (i + 1 == argc) Refuse(fmt::format("{} needs a value", flag));
      values_[std::string(flag)] = argv[i + 1];
    }
  }

  std::string Text(std::string_view flag) const {
    const auto found = values_.find(flag);
    return found == values_.end() ? "" : found->second;
  }
  // Above 0.
  double Number(std::string_view flag, double otherwise) const {
    const std::string text = Text(flag);
    if (text.empty()) return otherwise;
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (*end != '\0' || !(number > 0)) {
      Refuse(fmt::format("{} needs a number above 0, not '{}'", flag, text));
    }
    return number;
  }
  uint64_t Count(std::string_view flag, uint64_t otherwise) const {
    return static_cast<uint64_t>(Number(flag, static_cast<double>(otherwise)));
  }
  // The settings from --seconds, --rounds and --json.
  Settings MeasuredFor(const Settings& otherwise = {}) const {
    return {.seconds = Number("--seconds", otherwise.seconds),
            .rounds = static_cast<int>(Number("--rounds", otherwise.rounds)),
            .json_file = Text("--json")};
  }

 private:
  [[noreturn]] static void Refuse(const std::string& why) {
    fmt::print(stderr, "bench: {}; see --help\n", why);
    std::exit(2);
  }

  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace tidemark::bench
