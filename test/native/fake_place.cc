#include "fake_place.h"

namespace bucketlock {

class FakePlace : public Place {
 public:
  explicit FakePlace(std::shared_ptr<FakeLine> line) : line_(std::move(line)) {}

  bool Block() override {
    if (left_) line_->misused_ = true;
    std::unique_lock<std::mutex> lock(line_->mutex_);
    line_->blocked_at_.push_back(FakeLine::Clock::now());
    ++line_->blocks_;
    line_->changed_.wait(
        lock, [this] { return line_->woken_ || line_->closed_ || line_->tells_nothing_; });
    line_->woken_ = false;
    return !line_->closed_;
  }

  void Leave() override {
    if (left_.exchange(true)) line_->misused_ = true;
    ++line_->leaves_;
  }

  void Abandon() override {
    if (left_) line_->misused_ = true;
    ++line_->abandons_;
    if (!line_->outlasts_abandon_) line_->Wake();
  }

  bool IsLast() const override { return true; }

  std::uint64_t SignsOfLife() override {
    const int looks = ++line_->looks_;
    return line_->moves_ ? static_cast<std::uint64_t>(looks) : 0;
  }

 private:
  const std::shared_ptr<FakeLine> line_;
  std::atomic<bool> left_{false};
};

void FakeLine::Wake() {
  const std::lock_guard<std::mutex> lock(mutex_);
  woken_ = true;
  changed_.notify_all();
}

void FakeLine::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void FakeLine::Open() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = false;
}

void FakeLine::TellNothing() {
  const std::lock_guard<std::mutex> lock(mutex_);
  tells_nothing_ = true;
  changed_.notify_all();
}

bool FakeLine::PausesBetweenBlocks(std::size_t count, std::chrono::milliseconds pause) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::size_t size = blocked_at_.size();
  if (size <= count) return false;
  for (std::size_t i = size - count; i < size; ++i) {
    if (blocked_at_[i] - blocked_at_[i - 1] < pause) return false;
  }
  return true;
}

std::shared_ptr<Place> PlacedContender::TakePlace() { return std::make_shared<FakePlace>(line_); }

Contender::Outcome PlacedContender::Attempt(Place* place, LineMemory* memory) {
  if (attempting_.exchange(true)) line_->misused_ = true;
  ++(place == nullptr ? attempts_out_of_turn_ : attempts_in_place_);
  const Outcome outcome = FakeContender::Attempt(place, memory);
  attempting_ = false;
  const bool is_busy = outcome == Outcome::kBusyUntold && !finds_nothing_;
  return is_busy && place != nullptr ? Outcome::kBusy : outcome;
}

}  // namespace bucketlock
