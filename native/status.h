// The one way native code reports a failure: which operation failed, and with what system error.

#ifndef BUCKETLOCK_STATUS_H_
#define BUCKETLOCK_STATUS_H_

namespace bucketlock {

enum class StatusCode {
  kOk,
  // A system call failed; `system_error` says how.
  kSystem,
  // The file system or kernel does not offer the operation at all.
  kUnsupported,
  // What the operation worked on or in is gone.
  kVanished,
};

struct [[nodiscard]] Status {
  StatusCode code = StatusCode::kOk;
  // errno on POSIX, GetLastError() on Windows.
  int system_error = 0;
  // The system call's plain name, as Node's errors spell it: "open", "flock", "unlink".
  const char* operation = "";

  bool ok() const { return code == StatusCode::kOk; }

  static Status Ok() { return Status{}; }
  static Status System(int error, const char* operation) {
    return Status{StatusCode::kSystem, error, operation};
  }
  static Status Unsupported(int error, const char* operation) {
    return Status{StatusCode::kUnsupported, error, operation};
  }
  // Without a system error: the system grants the operation, and it turned out to have no effect.
  static Status Useless() { return Status{StatusCode::kUnsupported, 0, ""}; }
  static Status Vanished(int error, const char* operation) {
    return Status{StatusCode::kVanished, error, operation};
  }
};

}  // namespace bucketlock

#endif  // BUCKETLOCK_STATUS_H_
