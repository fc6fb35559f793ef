#include "fake_place.h"

namespace bucketlock {

class FakePlace : public Place {
 public:
  explicit FakePlace(std::shared_ptr<FakeLine> line) : line_(std::move(line)) {}

  bool Block() override {
    std::unique_lock<std::mutex> lock(line_->mutex_);
    ++line_->blocks_;
    line_->changed_.wait(lock, [this] { return line_->woken_ || line_->closed_; });
    line_->woken_ = false;
    return !line_->closed_;
  }

  void Leave() override { ++line_->leaves_; }

  void Abandon() override {
    ++line_->abandons_;
    line_->Wake();
  }

  std::uint64_t SignsOfLife() override { return 0; }

 private:
  const std::shared_ptr<FakeLine> line_;
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

std::shared_ptr<Place> PlacedContender::TakePlace() { return std::make_shared<FakePlace>(line_); }

Contender::Outcome PlacedContender::Attempt(Place* place, LineMemory* memory) {
  ++(place == nullptr ? attempts_out_of_turn_ : attempts_in_place_);
  const Outcome outcome = FakeContender::Attempt(place, memory);
  const bool is_busy = outcome == Outcome::kBusyUntold;
  return is_busy && place != nullptr ? Outcome::kBusy : outcome;
}

}  // namespace bucketlock
