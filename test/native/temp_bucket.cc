#include "temp_bucket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "platform/file.h"
#include "platform/handle.h"

namespace bucketlock {

namespace fs = std::filesystem;

TempBucket::TempBucket() {
  std::string pattern = testing::TempDir() + "bucketlock-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) std::abort();
  parent_ = pattern;
  path_ = parent_ + "/bucket";
  if (::chmod(parent_.c_str(), 0755) != 0 || ::mkdir(path_.c_str(), 0755) != 0) std::abort();
}

TempBucket::~TempBucket() {
  std::error_code error;
  fs::remove_all(parent_, error);
  EXPECT_FALSE(error) << error.message();
}

BucketSpec TempBucket::Spec(RecordFormat format) const {
  BucketSpec spec;
  spec.directory = path_;
  spec.format = format;
  return spec;
}

AttemptResult TempBucket::Attempt(RecordFormat format) const {
  AttemptMemory memory;
  return AttemptAcquire(Spec(format), &memory);
}

std::string TempBucket::FileSystem() const {
  const Handle directory(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::string name;
  EXPECT_TRUE(FileSystemOf(directory, &name).ok());
  return name;
}

std::vector<std::string> TempBucket::Names() const {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void TempBucket::Plant(const std::string& bytes, const std::string& name) const {
  std::ofstream file(path_ + '/' + name, std::ios::binary | std::ios::trunc);
  file << bytes;
  file.close();
  EXPECT_TRUE(file.good());
}

void TempBucket::Date(int seconds, const std::string& name) const {
  const struct timespec then = {std::time(nullptr) + seconds, 0};
  const struct timespec times[2] = {then, then};
  EXPECT_EQ(::utimensat(AT_FDCWD, (path_ + '/' + name).c_str(), times, 0), 0);
}

void TempBucket::PlantDead(RecordFormat format) const {
  const int status = InChild([this, format] {
    const AttemptResult result = Attempt(format);
    // Ends while it holds: the kernel alone drops the guard.
    if (result.kind == ResultKind::kAcquired) ::_exit(0);
    return 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(Exists(lockfile()));
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

bool Exists(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0;
}

std::vector<int> Descriptors() {
  constexpr int kMany = 1024;
  std::vector<int> open;
  for (int descriptor = 0; descriptor < kMany; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) open.push_back(descriptor);
  }
  return open;
}

int InChild(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  if (child < 0) return -1;
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

pid_t GonePid() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  return child;
}

}  // namespace bucketlock
