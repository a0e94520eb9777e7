#include "http/mailbox.h"

#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "base/turn.h"

namespace tidemark::http {
namespace {

class MailboxTest : public ::testing::Test {
 protected:
  MailboxTest() { mailbox_->Open(); }

  void Deliver(uint64_t request) {
    mailbox_->Deliver({.connection = 1, .request = request, .content = Response{}});
  }

  int woken_ = 0;
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>([this] { ++woken_; });
};

TEST_F(MailboxTest, WakesTheLoopForTheFirstLetterOnly) {
  Deliver(1);
  EXPECT_EQ(woken_, 1);
  Deliver(2);
  EXPECT_EQ(woken_, 1);
  EXPECT_EQ(mailbox_->Take().size(), 2u);
  Deliver(3);
  EXPECT_EQ(woken_, 2);
}

// All answers to one group of writes come in one turn. If the first one woke the loop, the loop
// would run beside the thread that delivers, and take them one by one.
TEST_F(MailboxTest, WakesTheLoopOnceWhenATurnEnds) {
  {
    const Turn turn;
    Deliver(1);
    Deliver(2);
    EXPECT_EQ(woken_, 0);
  }
  EXPECT_EQ(woken_, 1);
  EXPECT_EQ(mailbox_->Take().size(), 2u);
}

// The loop may be gone when the turn ends.
TEST_F(MailboxTest, WakesNoLoopThatHasClosedInTheMeantime) {
  {
    const Turn turn;
    Deliver(1);
    mailbox_->Close();
  }
  EXPECT_EQ(woken_, 0);
}

TEST_F(MailboxTest, ATurnOfAnotherThreadDelaysNothing) {
  const Turn turn;
  std::thread([this] { Deliver(1); }).join();
  EXPECT_EQ(woken_, 1);
}

// The loop is woken once for work and letters. Letters that the work delivers need no wake-up of
// their own.
TEST_F(MailboxTest, DoesWorkOfOtherThreads) {
  EXPECT_TRUE(mailbox_->Add([this] { Deliver(2); }));
  Deliver(1);
  EXPECT_EQ(woken_, 1);
  mailbox_->DoWork();
  EXPECT_EQ(mailbox_->Take().size(), 2u);
  EXPECT_EQ(woken_, 1);
}

// Work that comes between DoWork and Take is not forgotten.
TEST_F(MailboxTest, WakesTheLoopAgainForWorkThatCameLate) {
  Deliver(1);
  mailbox_->DoWork();
  EXPECT_TRUE(mailbox_->Add([] {}));
  EXPECT_EQ(woken_, 1);
  EXPECT_EQ(mailbox_->Take().size(), 1u);
  EXPECT_EQ(woken_, 2);
}

// Somebody waits for the answer, also when the loop ends.
TEST_F(MailboxTest, ClosingDoesTheWorkThatIsLeft) {
  bool done = false;
  EXPECT_TRUE(mailbox_->Add([&] { done = true; }));
  mailbox_->Close();
  EXPECT_TRUE(done);
  EXPECT_FALSE(mailbox_->Add([] {}));
}

}  // namespace
}  // namespace tidemark::http
