#include "http/admission.h"

#include <gtest/gtest.h>

namespace tidemark::http {
namespace {

// One address that takes all it can get must not keep the others out.
TEST(AdmissionTest, LeavesPlacesForOtherAddresses) {
  Admission admission({.max_connections = 5, .max_connections_per_address = 2});
  EXPECT_TRUE(admission.Enter("10.0.0.1"));
  EXPECT_TRUE(admission.Enter("10.0.0.1"));
  EXPECT_FALSE(admission.Enter("10.0.0.1"));
  EXPECT_TRUE(admission.Enter("10.0.0.2"));
  admission.Leave("10.0.0.1");
  EXPECT_TRUE(admission.Enter("10.0.0.1"));
  EXPECT_FALSE(admission.Enter("10.0.0.1"));
}

// All together have a bound too, and who was refused has taken no place.
TEST(AdmissionTest, CountsAllAddressesTogether) {
  Admission admission({.max_connections = 2, .max_connections_per_address = 2});
  EXPECT_TRUE(admission.Enter("10.0.0.1"));
  EXPECT_TRUE(admission.Enter("10.0.0.2"));
  EXPECT_FALSE(admission.Enter("10.0.0.3"));
  EXPECT_FALSE(admission.Enter("10.0.0.1"));
  admission.Leave("10.0.0.2");
  EXPECT_TRUE(admission.Enter("10.0.0.3"));
}

// Bodies are in memory before anybody knows whose they are: a stranger must not fill it with them.
TEST(AdmissionTest, BoundsTheBytesOfBodiesAtOnce) {
  Admission admission({.max_body_bytes_at_once = 100});
  EXPECT_TRUE(admission.TakeBodyBytes(60));
  EXPECT_FALSE(admission.TakeBodyBytes(41));
  EXPECT_TRUE(admission.TakeBodyBytes(40));
  EXPECT_FALSE(admission.TakeBodyBytes(1));
  admission.GiveBodyBytes(60);
  EXPECT_TRUE(admission.TakeBodyBytes(60));
}

}  // namespace
}  // namespace tidemark::http
