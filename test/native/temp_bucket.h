// An empty directory of a test's own, and what the tests of the lockfile protocol do in it.

#ifndef BUCKETLOCK_TEST_NATIVE_TEMP_BUCKET_H_
#define BUCKETLOCK_TEST_NATIVE_TEMP_BUCKET_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "bucket_spec.h"
#include "lockfile.h"
#include "owner_record.h"

namespace bucketlock {

class TempBucket {
 public:
  TempBucket();
  // Removes it with all that is in it.
  ~TempBucket();

  TempBucket(const TempBucket&) = delete;
  TempBucket& operator=(const TempBucket&) = delete;

  // The bucket, and the folder that it lies in alone.
  const std::string& path() const { return path_; }
  const std::string& parent() const { return parent_; }
  std::string lockfile() const { return path_ + "/.lock"; }

  BucketSpec Spec(RecordFormat format = RecordFormat::kFull) const;
  // One attempt of a request of its own.
  AttemptResult Attempt(RecordFormat format = RecordFormat::kFull) const;

  // The bucket's file system, as the allow-list spells it.
  std::string FileSystem() const;
  // All names in the bucket, sorted.
  std::vector<std::string> Names() const;

  // A lockfile of another writer's, without a guard.
  void Plant(const std::string& bytes, const std::string& name = ".lock") const;
  // Dates it so many seconds from now.
  void Date(int seconds, const std::string& name = ".lock") const;
  // A lockfile whose holder died without a word.
  void PlantDead(RecordFormat format = RecordFormat::kFull) const;

 private:
  std::string parent_;
  std::string path_;
};

std::string ReadFile(const std::string& path);
bool Exists(const std::string& path);
// The descriptors that this process has open, in ascending order.
std::vector<int> Descriptors();

// Runs `body` in a forked child, and answers its exit status; -1 if it was killed. The child runs
// nothing else: no test result, no destructor of the parent's objects.
int InChild(const std::function<int()>& body);

// A PID that nobody has any more.
pid_t GonePid();

}  // namespace bucketlock

#endif  // BUCKETLOCK_TEST_NATIVE_TEMP_BUCKET_H_
