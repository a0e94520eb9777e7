#include "http/address.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <netinet/in.h>
#include <span>

namespace tidemark::http {

namespace {

struct Network4 {
  uint32_t base;
  int bits;
};

constexpr uint32_t Dotted(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

// IANA's special-purpose registry, and multicast.
constexpr Network4 kNotPublic4[] = {
    {Dotted(0, 0, 0, 0), 8},      {Dotted(10, 0, 0, 0), 8},     {Dotted(100, 64, 0, 0), 10},
    {Dotted(127, 0, 0, 0), 8},    {Dotted(169, 254, 0, 0), 16}, {Dotted(172, 16, 0, 0), 12},
    {Dotted(192, 0, 0, 0), 24},   {Dotted(192, 0, 2, 0), 24},   {Dotted(192, 88, 99, 0), 24},
    {Dotted(192, 168, 0, 0), 16}, {Dotted(198, 18, 0, 0), 15},  {Dotted(198, 51, 100, 0), 24},
    {Dotted(203, 0, 113, 0), 24}, {Dotted(224, 0, 0, 0), 4},    {Dotted(240, 0, 0, 0), 4},
};

bool IsPublic4(uint32_t address) {
  return std::ranges::none_of(kNotPublic4, [address](const Network4& network) {
    return (address ^ network.base) >> (32 - network.bits) == 0;
  });
}

using Bytes6 = std::array<uint8_t, 16>;

bool StartsWith(const Bytes6& address, std::initializer_list<uint8_t> prefix) {
  return std::equal(prefix.begin(), prefix.end(), address.begin());
}

uint32_t Embedded4(const Bytes6& address, size_t at) {
  return Dotted(address[at], address[at + 1], address[at + 2], address[at + 3]);
}

bool IsPublic6(const Bytes6& address) {
  if (StartsWith(address, {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0})) {  // NAT64.
    return IsPublic4(Embedded4(address, 12));
  }
  if (StartsWith(address, {0x20, 0x02})) return IsPublic4(Embedded4(address, 2));  // 6to4.
  const bool is_protocol = StartsWith(address, {0x20, 0x01}) && address[2] < 2;    // And Teredo.
  const bool is_documentation = StartsWith(address, {0x20, 0x01, 0x0d, 0xb8}) ||
                                (StartsWith(address, {0x3f, 0xff}) && address[2] < 0x10);
  // Only 2000::/3 has public addresses. Private, mapped and multicast addresses are outside of it.
  return address[0] >> 5 == 1 && !is_protocol && !is_documentation;
}

}  // namespace

bool IsPublicAddress(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof(v4));
    return IsPublic4(ntohl(v4.sin_addr.s_addr));
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address, sizeof(v6));
    Bytes6 bytes{};
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return IsPublic6(bytes);
  }
  return false;
}

}  // namespace tidemark::http
