#include "platform/thread.h"

#include <pthread.h>
#include <signal.h>

#include <memory>

namespace bucketlock {
namespace {

struct Start {
  void (*body)(void*);
  void* argument;
};

void* Enter(void* raw) {
  const std::unique_ptr<Start> start(static_cast<Start*>(raw));
  start->body(start->argument);
  return nullptr;
}

}  // namespace

Status StartThread(void (*body)(void*), void* argument) {
  std::unique_ptr<Start> start(new Start{body, argument});
  // A new thread inherits the mask, so it never runs with a signal open.
  sigset_t all;
  sigset_t before;
  // A macro on macOS, so without the global scope's name.
  static_cast<void>(sigfillset(&all));
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = ::pthread_create(&thread, /*attr=*/nullptr, &Enter, start.get());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return Status::System(error, "pthread_create");
  static_cast<void>(start.release());  // Enter owns it now.
  ::pthread_detach(thread);
  return Status::Ok();
}

}  // namespace bucketlock
