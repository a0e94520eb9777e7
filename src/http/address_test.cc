#include "http/address.h"

#include <arpa/inet.h>
#include <cstring>
#include <netinet/in.h>

#include <gtest/gtest.h>

#include "base/check.h"

namespace tidemark::http {
namespace {

bool IsPublic(const char* text) {
  sockaddr_storage storage{};
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    std::memcpy(&storage, &v4, sizeof(v4));
  } else {
    CHECK(::inet_pton(AF_INET6, text, &v6.sin6_addr) == 1);
    v6.sin6_family = AF_INET6;
    std::memcpy(&storage, &v6, sizeof(v6));
  }
  return IsPublicAddress(reinterpret_cast<const sockaddr&>(storage));
}

TEST(AddressTest, KnowsPublicAddresses) {
  for (const char* text :
       {"1.1.1.1",         "9.255.255.255",   "11.0.0.0",          "52.84.150.33",
        "100.63.255.255",  "100.128.0.0",     "126.255.255.255",   "128.0.0.0",
        "169.253.255.255", "169.255.0.0",     "172.15.255.255",    "172.32.0.0",
        "192.167.255.255", "192.169.0.0",     "198.17.255.255",    "198.20.0.0",
        "223.255.255.255", "2000::1",         "2600:9000:2000::1", "2001:200::1",
        "2001:4860::8888", "2002:101:101::1", "64:ff9b::1.1.1.1",  "3fff:1000::1"}) {
    EXPECT_TRUE(IsPublic(text)) << text;
  }
}

// The first and the last address of each class.
TEST(AddressTest, RefusesLocalAndPrivateAddresses) {
  for (const char* text :
       {"0.0.0.0",         "0.255.255.255",   "10.0.0.0",    "10.255.255.255",  "100.64.0.0",
        "100.100.100.200", "100.127.255.255", "127.0.0.1",   "127.255.255.255", "169.254.0.0",
        "169.254.169.254", "169.254.255.255", "172.16.0.0",  "172.31.255.255",  "192.0.0.192",
        "192.0.2.1",       "192.88.99.1",     "192.168.0.0", "192.168.255.255", "198.18.0.0",
        "198.19.255.255",  "198.51.100.7",    "203.0.113.7", "224.0.0.1",       "239.255.255.255",
        "240.0.0.1",       "255.255.255.255"}) {
    EXPECT_FALSE(IsPublic(text)) << text;
  }
  for (const char* text : {"::",
                           "::1",
                           "::127.0.0.1",
                           "::1.1.1.1",
                           "::ffff:127.0.0.1",
                           "::ffff:10.0.0.1",
                           "::ffff:1.1.1.1",
                           "64:ff9b::10.0.0.1",
                           "64:ff9b::169.254.169.254",
                           "64:ff9b:1::1.1.1.1",
                           "100::1",
                           "2001::1",
                           "2001:10::1",
                           "2001:1ff::1",
                           "2001:db8::1",
                           "2002:7f00:1::1",
                           "2002:a00:1::1",
                           "2002:a9fe:a9fe::1",
                           "2002:c0a8:101::1",
                           "3fff::1",
                           "4000::1",
                           "fc00::1",
                           "fd00:ec2::254",
                           "fe80::1",
                           "fec0::1",
                           "ff02::1"}) {
    EXPECT_FALSE(IsPublic(text)) << text;
  }
}

TEST(AddressTest, RefusesOtherFamilies) {
  sockaddr address{};
  address.sa_family = AF_UNIX;
  EXPECT_FALSE(IsPublicAddress(address));
}

}  // namespace
}  // namespace tidemark::http
