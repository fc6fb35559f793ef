// Owner of one open file, directory or other kernel object.
//
// Both platforms fit: a POSIX descriptor and a Windows HANDLE are pointer-sized integers for which
// -1 is never valid. (Windows calls that fail with null are normalised where they are made.)

#ifndef BUCKETLOCK_PLATFORM_HANDLE_H_
#define BUCKETLOCK_PLATFORM_HANDLE_H_

#include <cstdint>
#include <utility>

namespace bucketlock {

class Handle {
 public:
  static constexpr std::intptr_t kInvalid = -1;

  Handle() = default;
  explicit Handle(std::intptr_t value) : value_(value) {}
  ~Handle() { Close(); }

  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle(Handle&& other) noexcept : value_(std::exchange(other.value_, kInvalid)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      Close();
      value_ = std::exchange(other.value_, kInvalid);
    }
    return *this;
  }

  bool valid() const { return value_ != kInvalid; }
  std::intptr_t get() const { return value_; }

  // Closes now; closing an invalid handle does nothing. A failing close is ignored: the system has
  // given the number back in any case, and nothing we write needs a flush to be believed.
  void Close();

 private:
  std::intptr_t value_ = kInvalid;
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_PLATFORM_HANDLE_H_
