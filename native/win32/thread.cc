#include "platform/thread.h"

#include <windows.h>
// The C library's, not ours.
#include <process.h>

#include <cerrno>
#include <cstdint>
#include <memory>

namespace bucketlock {
namespace {

struct Start {
  void (*body)(void*);
  void* argument;
};

unsigned __stdcall Enter(void* raw) {
  const std::unique_ptr<Start> start(static_cast<Start*>(raw));
  start->body(start->argument);
  return 0;
}

}  // namespace

Status StartThread(void (*body)(void*), void* argument) {
  std::unique_ptr<Start> start(new Start{body, argument});
  // Not CreateThread: the C library keeps data for each thread.
  const std::uintptr_t thread =
      ::_beginthreadex(/*security=*/nullptr, /*stack_size=*/0, &Enter, start.get(), /*initflag=*/0,
                       /*thrdaddr=*/nullptr);
  if (thread == 0) {
    const int error = errno == EACCES ? ERROR_NOT_ENOUGH_MEMORY : ERROR_TOO_MANY_TCBS;
    return Status::System(error, "_beginthreadex");
  }
  static_cast<void>(start.release());  // Enter owns it now.
  static_cast<void>(::CloseHandle(reinterpret_cast<HANDLE>(thread)));
  return Status::Ok();
}

}  // namespace bucketlock
