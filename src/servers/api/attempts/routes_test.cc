#include "servers/api/attempts/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PathWithoutSubjectTest, ShowsTheRouteAndNoId) {
  EXPECT_EQ(PathWithoutSubject("/api/v1/subjects/ann/attempts/reserve"),
            "/api/v1/subjects/{id}/attempts/reserve");
  EXPECT_EQ(PathWithoutSubject("/api/v1/subjects/ann"), "/api/v1/subjects/{id}");
  EXPECT_EQ(PathWithoutSubject("/api/v1/subjects/identify"), "/api/v1/subjects/identify");
  EXPECT_EQ(PathWithoutSubject("/api/v1/subjects/identify/counts"), "/api/v1/subjects/{id}/counts");
  EXPECT_EQ(PathWithoutSubject("/api/v1/subjects/ann/locks/SIGN_IN/PASSWORD_RESET"),
            "/api/v1/subjects/{id}/locks/{hidden}/{hidden}");
}

TEST(PathWithoutSubjectTest, LeavesOtherPathsAsTheyAre) {
  for (const char* path : {"/", "/healthz", "/api/v1/documents/CHG%2F1", "/api/v1//documents",
                           "/%zz", "*", "/api/v1/documents/subjects"}) {
    EXPECT_EQ(PathWithoutSubject(path), path);
  }
}

// Unknown paths are logged too, and people put addresses there.
TEST(PathWithoutSubjectTest, HidesTheIdInEveryFormOfThePath) {
  for (const char* path :
       {"//api/v1/subjects/session~secret/counts", "/api/v1/subjects//secret@example.org",
        "/api/v1/%73ubjects/secret", "/api/v1/subjects/ann/secret@example.org",
        "/api/v1/Subjects/secret", "/api/v1/subjects%2Fsecret", "/api//v1///subjects////secret",
        "/api/v1/subjects/a%2Fsecret/counts", "/api/v1/subjects/secret%zz",
        "/api/v1/subjects/%zz/secret", "/%/api/v1/subjects/secret", "/api/v1/%73ubjects%2fsecret%4",
        "/api/v1/subjects/secret%", "/api/v1/subjects/identify/secret",
        "/api/v1/subjects/ann/attempts/secret", "/api/v1/subjects/%00secret"}) {
    EXPECT_THAT(PathWithoutSubject(path), Not(HasSubstr("secret"))) << path;
    EXPECT_THAT(PathWithoutSubject(path), HasSubstr("/subjects")) << path;
  }
}

}  // namespace
}  // namespace tidemark::api
