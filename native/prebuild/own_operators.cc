// The operators that allocate, for binaries into which LLVM's C++ library is linked: that library
// exports its own, which then may be taken for those of another module, or replaced by them.

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

// Without exceptions there is nobody to tell that memory is out.
void* OrAbort(void* memory) {
  if (memory == nullptr) std::abort();
  return memory;
}

void* Allocate(std::size_t size) { return OrAbort(std::malloc(size == 0 ? 1 : size)); }

void* AllocateAligned(std::size_t size, std::size_t alignment) {
  void* memory = nullptr;
  const std::size_t least = alignment < sizeof(void*) ? sizeof(void*) : alignment;
  const int error = ::posix_memalign(&memory, least, size == 0 ? 1 : size);
  return OrAbort(error == 0 ? memory : nullptr);
}

}  // namespace

void* operator new(std::size_t size) { return Allocate(size); }
void* operator new[](std::size_t size) { return Allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return AllocateAligned(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return AllocateAligned(size, static_cast<std::size_t>(alignment));
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
