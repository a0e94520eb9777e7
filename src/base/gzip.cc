#include "base/gzip.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <zlib.h>

#include "base/check.h"

namespace tidemark {

namespace {

// The largest window, with the header and the trailer of gzip.
constexpr int kGzipWindow = 15 + 16;
// Memory grows with what was really unpacked, and not with what a header promises.
constexpr size_t kPieceBytes = size_t{64} << 10;

Bytef* ZlibBytes(const char* bytes) {
  // zlib takes its input without const, and does not write to it.
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes));
}

class Inflater {
 public:
  explicit Inflater(std::string_view packed) {
    stream_.next_in = ZlibBytes(packed.data());
    stream_.avail_in = static_cast<uInt>(packed.size());
    CHECK(inflateInit2(&stream_, kGzipWindow) == Z_OK);
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Appends at most `most` bytes. Z_STREAM_END at the end, Z_OK when there is more.
  int Append(size_t most, std::string* out) {
    const size_t begin = out->size();
    out->resize(begin + most);
    stream_.next_out = ZlibBytes(out->data() + begin);
    stream_.avail_out = static_cast<uInt>(most);
    const int code = inflate(&stream_, Z_NO_FLUSH);
    out->resize(out->size() - stream_.avail_out);
    return code;
  }
  bool used_all() const { return stream_.avail_in == 0; }

 private:
  z_stream stream_ = {};
};

}  // namespace

std::string Gzip(std::string_view bytes) {
  z_stream stream = {};
  CHECK(bytes.size() < std::numeric_limits<uInt>::max());
  CHECK(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) ==
        Z_OK);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = ZlibBytes(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = ZlibBytes(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);  // The bound is enough room.
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

Result<std::string> Gunzip(std::string_view packed, size_t most) {
  if (packed.size() >= std::numeric_limits<uInt>::max()) return Invalid("the text is too large");
  Inflater inflater(packed);
  std::string text;
  while (true) {
    // One byte above the limit tells whether there is more.
    const int code = inflater.Append(std::min(kPieceBytes, most + 1 - text.size()), &text);
    if (text.size() > most) {
      return Error{ErrorCode::kThrottled,
                   fmt::format("the text unpacks to more than {} bytes", most)};
    }
    if (code == Z_STREAM_END) break;
    if (code != Z_OK) return Invalid("the text is not gzip, is damaged, or is cut off");
  }
  if (!inflater.used_all()) return Invalid("there are further bytes behind the gzip");
  return text;
}

uint32_t Crc32(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace tidemark
