// The places in line that are kept for those who come later.

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "wait_place_fixture.h"
#include "wait_queue.h"

namespace bucketlock {
namespace {

class WaitReservationTest : public WaitPlaceTest {};

TEST_F(WaitReservationTest, TheOrderIsThatOfTheReservations) {
  bool first = false;
  const RequestId reserved = Queue().Reserve("line", party_, &first);
  EXPECT_TRUE(first);
  const RequestId behind = Queue().Reserve("line", party_, &first);
  EXPECT_FALSE(first);
  Waiter last = Join();
  Waiter second = Join(behind);
  Waiter waiter = Join(reserved);
  ASSERT_EQ(waiter.id, reserved);
  ASSERT_TRUE(Blocks(1));
  for (Waiter* const next : {&waiter, &second, &last}) {
    if (next == &waiter) lock_.Free();
    line_->Wake();
    ASSERT_EQ(party_->Next(), next->id);
    Release(next);
  }
}

TEST_F(WaitReservationTest, WhoReservesAndDoesNotComeIsPassedOverAfterAWhile) {
  const auto start = std::chrono::steady_clock::now();
  bool first = false;
  const RequestId reserved = Queue().Reserve("line", party_, &first);
  Waiter next = Join();
  lock_.Free();
  line_->Wake();
  ASSERT_EQ(party_->Next(), next.id);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
  Release(&next);
  EXPECT_FALSE(Queue().Leave(reserved));
}

TEST_F(WaitReservationTest, AReservationThatIsGivenUpIsNoLine) {
  bool first = false;
  const RequestId reserved = Queue().Reserve("line", party_, &first);
  EXPECT_TRUE(Queue().IsSomebodyIn("line"));
  EXPECT_FALSE(Queue().Leave(reserved));
  EXPECT_FALSE(Queue().IsSomebodyIn("line"));
  EXPECT_NE(Queue().NewId(), reserved);
}

TEST_F(WaitReservationTest, WhoGivesUpAReservationIsPassedOver) {
  bool first = false;
  const RequestId reserved = Queue().Reserve("line", party_, &first);
  const RequestId behind = Queue().Reserve("line", party_, &first);
  EXPECT_FALSE(Queue().Leave(reserved));
  EXPECT_TRUE(Queue().IsSomebodyIn("line"));
  Waiter next = Join(behind);
  lock_.Free();
  line_->Wake();
  ASSERT_EQ(party_->Next(), behind);
  Release(&next);
}

TEST_F(WaitReservationTest, NoNumberIsGivenTwice) {
  std::mutex mutex;
  std::multiset<RequestId> numbers;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        bool first = false;
        const RequestId id = Queue().NewId();
        const RequestId reserved = Queue().Reserve("line", party_, &first);
        EXPECT_FALSE(Queue().Leave(reserved));
        const std::lock_guard<std::mutex> lock(mutex);
        numbers.insert({id, reserved});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<RequestId>(numbers.begin(), numbers.end()).size(), 800u);
  EXPECT_EQ(numbers.count(0), 0u) << "that is nobody's number";
}

}  // namespace
}  // namespace bucketlock
