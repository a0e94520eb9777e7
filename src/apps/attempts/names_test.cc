#include "apps/attempts/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::attempts {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The text in the table and in the API parses to the same subject.
TEST(SubjectTest, ParsesItsOwnText) {
  for (const Subject& subject :
       {*Subject::Of("urn:x/1"), *Subject::OfPairwise("p1"), *Subject::OfSession("s1"),
        *Subject::OfEmail("ann@example.com", Secret("k"))}) {
    EXPECT_EQ(*Subject::Parse(subject.text()), subject);
  }
}

// An address in place of an id is refused, and the message does not contain it.
TEST(SubjectTest, RefusesOtherTexts) {
  for (const char* text : {"", "a~b", "pairwise~", "session~", "email~", "email~ann@example.com",
                           "ann@example.com", "other~x"}) {
    const auto subject = Subject::Parse(text);
    ASSERT_FALSE(subject) << text;
    EXPECT_THAT(subject.error().message, Not(HasSubstr("example.com")));
  }
  EXPECT_FALSE(Subject::Parse("email~" + std::string(63, 'a')));
  EXPECT_FALSE(Subject::Parse("email~" + std::string(64, 'G')));
}

}  // namespace
}  // namespace tidemark::attempts
