#include "http/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string>

#include <gtest/gtest.h>

namespace tidemark::http {
namespace {

sockaddr_storage V4(const char* address) {
  sockaddr_storage name = {};
  auto* v4 = reinterpret_cast<sockaddr_in*>(&name);
  v4->sin_family = AF_INET;
  inet_pton(AF_INET, address, &v4->sin_addr);
  return name;
}

sockaddr_storage V6(const char* address) {
  sockaddr_storage name = {};
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&name);
  v6->sin6_family = AF_INET6;
  inet_pton(AF_INET6, address, &v6->sin6_addr);
  return name;
}

// The forms that a setting may have.
TEST(ListenAddressTest, ReadsAddresses) {
  for (const char* text : {"127.0.0.1:8080", "0.0.0.0:0", "[::1]:65535", "[::]:80"}) {
    const auto address = ListenAddress::Parse(text);
    ASSERT_TRUE(address.has_value()) << text;
    EXPECT_EQ(address->ToText(), text);
  }
  const ListenAddress v6 = *ListenAddress::Parse("[::1]:80");
  EXPECT_TRUE(v6.is_v6);
  EXPECT_EQ(v6.host, "::1");
}

// An IPv4 client has the same address when it connects to an IPv6 socket.
TEST(PeerTest, ShowsIpv4InsideOfIpv6AsIpv4) {
  EXPECT_EQ(PeerOf(V4("192.0.2.1")).address, "192.0.2.1");
  EXPECT_EQ(PeerOf(V6("::ffff:192.0.2.1")).address, "192.0.2.1");
  EXPECT_EQ(PeerOf(V6("::ffff:192.0.2.1")).admission_key, PeerOf(V4("192.0.2.1")).admission_key);
  EXPECT_EQ(PeerOf(V6("2001:db8::1")).address, "2001:db8::1");
}

// A client can freely choose the lower half of its IPv6 address, so all addresses of a /64 count as
// one client.
TEST(PeerTest, CountsANetworkOfIpv6AsOneClient) {
  const std::string key = PeerOf(V6("2001:db8:1:2::1")).admission_key;
  EXPECT_EQ(PeerOf(V6("2001:db8:1:2:3:4:5:6")).admission_key, key);
  EXPECT_NE(PeerOf(V6("2001:db8:1:3::1")).admission_key, key);
  EXPECT_NE(PeerOf(V4("192.0.2.1")).admission_key, PeerOf(V4("192.0.2.2")).admission_key);
}

}  // namespace
}  // namespace tidemark::http
