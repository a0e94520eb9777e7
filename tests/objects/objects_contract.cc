// The contract of Objects: tests that every implementation must pass, through the public interface
// only.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "objects/objects.h"
#include "tests/objects/implementations.h"
#include "tests/support/temp_folder.h"
#include "tests/support/threads.h"

namespace tidemark::objects {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ObjectsContract : public ::testing::TestWithParam<Factory> {
 protected:
  Objects& objects() { return implementation_->objects(); }

  PutReply Put(const PutRequest& request) {
    auto reply = objects().Put(request);
    EXPECT_TRUE(reply.has_value()) << reply.error().message;
    return reply ? *reply : PutReply{.applied = false};
  }
  std::optional<std::string> Read(const std::string& key) {
    auto object = objects().Open(key);
    EXPECT_TRUE(object.has_value()) << object.error().message;
    if (!object || *object == nullptr) return std::nullopt;
    auto bytes = (*object)->Read(0, (*object)->info().size);
    EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
    return bytes ? std::optional(*bytes) : std::nullopt;
  }
  std::vector<std::string> Keys(const ListRequest& request, bool more = false) {
    auto page = objects().List(request);
    EXPECT_TRUE(page.has_value()) << page.error().message;
    std::vector<std::string> keys;
    if (!page) return keys;
    EXPECT_EQ(page->more, more);
    for (const ObjectInfo& info : page->objects) keys.push_back(info.key);
    return keys;
  }
  ErrorCode PutError(const PutRequest& request) {
    auto reply = objects().Put(request);
    EXPECT_FALSE(reply.has_value());
    return reply ? ErrorCode::kInternal : reply.error().code;
  }

  std::unique_ptr<Implementation> implementation_ = GetParam().make();
};

INSTANTIATE_TEST_SUITE_P(All, ObjectsContract, ::testing::ValuesIn(Implementations()),
                         [](const auto& factory) { return factory.param.name; });

}  // namespace

// A read returns everything that was put: bytes, type, metadata and time.
TEST_P(ObjectsContract, ReadsWhatWasPut) {
  const std::string bytes("a\0b\xff", 4);
  const PutReply reply = Put({.key = "k",
                              .bytes = bytes,
                              .content_type = "text/plain",
                              .metadata = {{"team", "T1"}, {"user", "U1"}}});
  EXPECT_TRUE(reply.applied);
  auto head = objects().Head("k");
  ASSERT_TRUE(head.has_value() && head->has_value());
  EXPECT_EQ(**head, (ObjectInfo{.key = "k",
                                .size = 4,
                                .etag = reply.etag,
                                .content_type = "text/plain",
                                .metadata = {{"team", "T1"}, {"user", "U1"}},
                                .modified = implementation_->clock().Now()}));
  EXPECT_EQ(Read("k"), bytes);
  auto object = objects().Open("k");
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ((*object)->info(), **head);
}

// A missing object is not an error.
TEST_P(ObjectsContract, KnowsWhatIsAbsent) {
  auto head = objects().Head("k");
  ASSERT_TRUE(head.has_value());
  EXPECT_FALSE(head->has_value());
  EXPECT_EQ(Read("k"), std::nullopt);
  auto deleted = objects().Delete({.key = "k"});
  EXPECT_TRUE(deleted.has_value() && deleted->applied);
  EXPECT_THAT(Keys({}), IsEmpty());
}

// An object may be empty.
TEST_P(ObjectsContract, KeepsEmptyObjects) {
  Put({.key = "empty"});
  EXPECT_EQ(Read("empty"), "");
  EXPECT_THAT(Keys({}), ElementsAre("empty"));
}

// An object can be stored from a file that is larger than one piece.
TEST_P(ObjectsContract, StoresAFile) {
  const TempFolder folder;
  const std::string path = folder.path() + "/source";
  std::string bytes;
  SeededRandom random(7);
  while (bytes.size() < 700'000) bytes += random.Hex(32);
  std::ofstream(path) << bytes;
  Put({.key = "file.bin", .file = path});
  EXPECT_EQ(Read("file.bin"), bytes);
}

// Downloads are resumed with ranges.
TEST_P(ObjectsContract, ReadsParts) {
  Put({.key = "k", .bytes = "0123456789"});
  auto object = objects().Open("k");
  ASSERT_TRUE(object.has_value());
  const auto read = [&](uint64_t offset, size_t size) { return *(*object)->Read(offset, size); };
  EXPECT_EQ(read(2, 3), "234");
  EXPECT_EQ(read(8, 5), "89");
  EXPECT_EQ(read(10, 5), "");
  EXPECT_EQ(read(99, 5), "");
  EXPECT_EQ(read(0, 10), "0123456789");
}

// A running download continues with the old bytes when the object is replaced.
TEST_P(ObjectsContract, KeepsAnOpenObjectAsItWas) {
  Put({.key = "k", .bytes = "old bytes", .content_type = "a/b"});
  auto object = objects().Open("k");
  ASSERT_TRUE(object.has_value());
  Put({.key = "k", .bytes = "new"});
  ASSERT_TRUE(objects().Delete({.key = "k"}).has_value());
  EXPECT_EQ(*(*object)->Read(0, 100), "old bytes");
  EXPECT_EQ((*object)->info().content_type, "a/b");
}

// Optimistic writers must notice every write, even one with the same bytes.
TEST_P(ObjectsContract, ChangesTheEtagWithEveryPut) {
  std::set<std::string> etags;
  etags.insert(Put({.key = "k", .bytes = "1"}).etag);
  etags.insert(Put({.key = "k", .bytes = "1"}).etag);
  etags.insert(Put({.key = "k", .bytes = "1", .metadata = {{"a", "b"}}}).etag);
  etags.insert(Put({.key = "k", .bytes = "2"}).etag);
  EXPECT_EQ(etags.size(), 4U);
}

// The first writer wins.
TEST_P(ObjectsContract, PutsOnlyWhenAbsent) {
  EXPECT_TRUE(Put({.key = "k", .bytes = "1", .if_absent = true}).applied);
  EXPECT_FALSE(Put({.key = "k", .bytes = "2", .if_absent = true}).applied);
  EXPECT_EQ(Read("k"), "1");
}

// No update is lost between a read and a write.
TEST_P(ObjectsContract, PutsOnlyOverTheEtag) {
  EXPECT_FALSE(Put({.key = "k", .bytes = "0", .if_match = "none"}).applied);
  EXPECT_EQ(Read("k"), std::nullopt);
  const std::string first = Put({.key = "k", .bytes = "1"}).etag;
  EXPECT_TRUE(Put({.key = "k", .bytes = "2", .if_match = first}).applied);
  EXPECT_FALSE(Put({.key = "k", .bytes = "3", .if_match = first}).applied);
  EXPECT_EQ(Read("k"), "2");
}

// A delete removes only the version that the caller has read.
TEST_P(ObjectsContract, DeletesOnlyTheEtag) {
  const std::string first = Put({.key = "k", .bytes = "1"}).etag;
  const std::string second = Put({.key = "k", .bytes = "2"}).etag;
  EXPECT_FALSE(objects().Delete({.key = "k", .if_match = first})->applied);
  EXPECT_EQ(Read("k"), "2");
  EXPECT_TRUE(objects().Delete({.key = "k", .if_match = second})->applied);
  EXPECT_EQ(Read("k"), std::nullopt);
  // A caller that lost the reply repeats the delete.
  EXPECT_TRUE(objects().Delete({.key = "k", .if_match = second})->applied);
}

// Invalid requests are refused, and nothing is written.
TEST_P(ObjectsContract, RefusesWrongRequests) {
  for (const std::string& key : {std::string(), std::string(".."), std::string("a/../b"),
                                 std::string("\xff"), std::string(kMaxKeyBytes + 1, 'k')}) {
    EXPECT_EQ(PutError({.key = key, .bytes = "b"}), ErrorCode::kInvalid) << key;
    EXPECT_FALSE(objects().Head(key).has_value());
    EXPECT_FALSE(objects().Open(key).has_value());
    EXPECT_FALSE(objects().Delete({.key = key}).has_value());
  }
  EXPECT_EQ(PutError({.key = "k", .metadata = {{"A", "b"}}}), ErrorCode::kInvalid);
  EXPECT_EQ(PutError({.key = "k", .if_absent = true, .if_match = "e"}), ErrorCode::kInvalid);
  EXPECT_FALSE(objects().List({.limit = kMaxPage + 1}).has_value());
  EXPECT_THAT(Keys({}), IsEmpty());
}

// Every key is independent of others, and lists are sorted by the bytes of the keys.
TEST_P(ObjectsContract, KeepsEveryKeyApart) {
  std::vector<std::string> keys = {"a",
                                   "A",
                                   "a/",
                                   "a/b",
                                   "a/b/c",
                                   "a//b",
                                   "/",
                                   "/a",
                                   "//",
                                   "a.b",
                                   "a.b/c",
                                   "a.b/c.d",
                                   ".a",
                                   "...",
                                   "a%",
                                   "a%2F",
                                   "a%/b",
                                   "%",
                                   "%%",
                                   "a+",
                                   "a-",
                                   "a-/b",
                                   "a0",
                                   "con",
                                   "lock",
                                   ".tidemark/lock",
                                   ".tidemark",
                                   "\x01",
                                   "caf\xc3\xa9",
                                   "cafe\xcc\x81",
                                   " ",
                                   "a ",
                                   "a b.txt",
                                   "*?:|<>\"\\",
                                   std::string(240, 'x'),
                                   std::string(240, 'x') + "m",
                                   std::string(240, 'x') + "z.b",
                                   std::string(300, 'x'),
                                   std::string(300, 'x') + "/b",
                                   std::string(300, 'x') + ".b",
                                   std::string(kMaxKeyBytes, 'y'),
                                   std::string(kMaxKeyBytes, '%'),
                                   std::string("\0", 1),
                                   std::string(kMaxKeyBytes, '/')};
  for (const std::string& key : keys) {
    EXPECT_TRUE(Put({.key = key, .bytes = "of " + key, .if_absent = true}).applied) << key;
  }
  for (const std::string& key : keys) EXPECT_EQ(Read(key), "of " + key);
  std::ranges::sort(keys);
  EXPECT_EQ(Keys({}), keys);
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(Keys({.after = keys[i]}),
              std::vector(keys.begin() + static_cast<long>(i) + 1, keys.end()));
  }
  for (const std::string& key : keys) {
    EXPECT_TRUE(objects().Delete({.key = key})->applied);
    EXPECT_EQ(Read(key), std::nullopt);
  }
  EXPECT_THAT(Keys({}), IsEmpty());
}

// A caller reads all objects of a bucket in pages.
TEST_P(ObjectsContract, ListsInPages) {
  for (const char* key : {"a/1", "a/2", "a/3", "b", "c/1"}) Put({.key = key, .bytes = key});
  EXPECT_THAT(Keys({.limit = 2}, true), ElementsAre("a/1", "a/2"));
  EXPECT_THAT(Keys({.after = "a/2", .limit = 2}, true), ElementsAre("a/3", "b"));
  EXPECT_THAT(Keys({.after = "b", .limit = 2}), ElementsAre("c/1"));
  EXPECT_THAT(Keys({.prefix = "a/"}), ElementsAre("a/1", "a/2", "a/3"));
  EXPECT_THAT(Keys({.prefix = "a/", .limit = 3}), ElementsAre("a/1", "a/2", "a/3"));
  EXPECT_THAT(Keys({.prefix = "a/", .after = "a/1", .limit = 1}, true), ElementsAre("a/2"));
  EXPECT_THAT(Keys({.prefix = "a"}), ElementsAre("a/1", "a/2", "a/3"));
  EXPECT_THAT(Keys({.prefix = "a/2"}), ElementsAre("a/2"));
  EXPECT_THAT(Keys({.prefix = "d"}), IsEmpty());
  EXPECT_THAT(Keys({.prefix = "../"}), IsEmpty());
  EXPECT_THAT(Keys({.after = "zzz"}), IsEmpty());
  EXPECT_THAT(Keys({.prefix = std::string(5'000, 'p')}), IsEmpty());
}

// Prefix, start and limit together, compared with a plain map.
TEST_P(ObjectsContract, ListsAsAMapDoes) {
  constexpr uint64_t kSeed = 11;
  SCOPED_TRACE(kSeed);
  SeededRandom random(kSeed);
  const std::string letters = "ab/.-";
  const auto text = [&](size_t max) {
    std::string result;
    for (uint64_t left = random.Below(max + 1); left > 0; --left) {
      result += letters[random.Below(letters.size())];
    }
    return result;
  };
  std::set<std::string> keys;
  for (int i = 0; i < 150; ++i) {
    const std::string key = text(6);
    if (objects().Put({.key = key, .bytes = "b"})) keys.insert(key);
  }
  for (int i = 0; i < 300; ++i) {
    const ListRequest request{.prefix = text(2), .after = text(5), .limit = 1 + random.Below(9)};
    std::vector<std::string> expected;
    for (const std::string& key : keys) {
      if (key.starts_with(request.prefix) && key > request.after) expected.push_back(key);
    }
    const bool more = expected.size() > request.limit;
    if (more) expected.resize(request.limit);
    EXPECT_EQ(Keys(request, more), expected) << request.prefix << " after " << request.after;
  }
}

// Exactly one of many concurrent writers wins.
TEST_P(ObjectsContract, LetsOneOfManyPutWhenAbsent) {
  for (int round = 0; round < 8; ++round) {
    const std::string key = "race/" + std::to_string(round);
    std::atomic<int> applied = 0;
    std::atomic<int> winner = -1;
    tidemark::testing::RunThreads(16, [&](int thread) {
      if (!Put({.key = key, .bytes = std::to_string(thread), .if_absent = true}).applied) return;
      ++applied;
      winner = thread;
    });
    EXPECT_EQ(applied, 1);
    EXPECT_EQ(Read(key), std::to_string(winner));
  }
}

// Eight writers each read a number and write it plus one. No update is lost.
TEST_P(ObjectsContract, LosesNoUpdate) {
  Put({.key = "count", .bytes = "0"});
  tidemark::testing::RunThreads(8, [&](int) {
    for (int done = 0; done < 5;) {
      auto object = objects().Open("count");
      const std::string next = std::to_string(std::stoi(*(*object)->Read(0, 20)) + 1);
      const std::string etag = (*object)->info().etag;
      if (Put({.key = "count", .bytes = next, .if_match = etag}).applied) ++done;
    }
  });
  EXPECT_EQ(Read("count"), "40");
}

// Folders are created and removed by concurrent writers. Readers see complete objects or none.
TEST_P(ObjectsContract, PutsAndDeletesBesideEachOther) {
  tidemark::testing::RunThreads(6, [&](int thread) {
    const std::string key = "shared/folder/" + std::to_string(thread % 3) + ".txt";
    const std::string bytes(5'000, static_cast<char>('a' + thread));
    for (int i = 0; i < 15; ++i) {
      Put({.key = key, .bytes = bytes});
      const auto seen = Read(key);
      EXPECT_TRUE(!seen || (seen->size() == 5'000 && *seen == std::string(5'000, (*seen)[0])));
      EXPECT_TRUE(objects().Delete({.key = key}).has_value());
      EXPECT_TRUE(objects().List({.prefix = "shared/"}).has_value());
    }
  });
  EXPECT_THAT(Keys({}), IsEmpty());
}

}  // namespace tidemark::objects
