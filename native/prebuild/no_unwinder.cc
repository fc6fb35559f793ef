// Replaces the unwinder and what drives it, for binaries into which LLVM's C++ library is linked:
// nothing here catches an exception, so one that this library throws ends the process anyway, by
// std::terminate. Names and types are those of the C++ ABI.

#include <cstdlib>

extern "C" {

// "The stack has ended": whoever throws then calls std::terminate.
int _Unwind_RaiseException(void* /*exception*/) {
  constexpr int kEndOfStack = 5;
  return kEndOfStack;
}

void _Unwind_DeleteException(void* /*exception*/) {}

// Without unwinding nobody comes here.
[[noreturn]] void _Unwind_Resume(void* /*exception*/) { std::abort(); }

int __gxx_personality_v0() { std::abort(); }
}
