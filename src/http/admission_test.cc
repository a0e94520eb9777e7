#include "http/admission.h"

#include <gtest/gtest.h>

namespace tidemark::http {
namespace {

// One address with many connections must not keep other addresses out.
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

// All addresses together have a limit too. A refused connection does not count.
TEST(AdmissionTest, CountsAllAddressesTogether) {
  Admission admission({.max_connections = 2, .max_connections_per_address = 2});
  EXPECT_TRUE(admission.Enter("10.0.0.1"));
  EXPECT_TRUE(admission.Enter("10.0.0.2"));
  EXPECT_FALSE(admission.Enter("10.0.0.3"));
  EXPECT_FALSE(admission.Enter("10.0.0.1"));
  admission.Leave("10.0.0.2");
  EXPECT_TRUE(admission.Enter("10.0.0.3"));
}

// A body must be in memory before its signature can be checked, so a stranger must not be able to
// fill the memory with bodies. Replies to clients who do not read must not fill it either.
TEST(AdmissionTest, BoundsTheBytesOfBodiesAtOnce) {
  Admission admission({.max_body_bytes_at_once = 100, .max_reply_bytes_at_once = 100});
  for (ByteBudget* budget : {&admission.requests(), &admission.replies()}) {
    EXPECT_TRUE(budget->Take("10.0.0.1", 60));
    EXPECT_FALSE(budget->Take("10.0.0.2", 41));
    EXPECT_TRUE(budget->Take("10.0.0.2", 40));
    EXPECT_FALSE(budget->Take("10.0.0.1", 1));
    budget->Give("10.0.0.1", 60);
    EXPECT_TRUE(budget->Take("10.0.0.1", 60));
  }
}

// One address must not use up what all share.
// Review: F10
TEST(AdmissionTest, GivesEachAddressAShareOfTheBytesOfBodies) {
  Admission admission({.max_body_bytes_at_once = 100,
                       .max_body_bytes_per_address = 50,
                       .max_reply_bytes_at_once = 100,
                       .max_reply_bytes_per_address = 50});
  for (ByteBudget* budget : {&admission.requests(), &admission.replies()}) {
    EXPECT_TRUE(budget->Take("10.0.0.1", 50));
    EXPECT_FALSE(budget->Take("10.0.0.1", 1));
    EXPECT_TRUE(budget->Take("10.0.0.2", 50));
    budget->Give("10.0.0.1", 20);
    EXPECT_FALSE(budget->Take("10.0.0.1", 21));
    EXPECT_TRUE(budget->Take("10.0.0.1", 20));
  }
}

}  // namespace
}  // namespace tidemark::http
