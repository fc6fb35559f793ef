// Finds the Node-API functions in the running program, whatever its file is called: Electron and
// packaged applications are no node.exe. The addon is linked to load that name only when one of
// its functions is first called, and asks here what to take for it.

#include <windows.h>
// After it.
#include <delayimp.h>

#include <cstring>

namespace {

FARPROC WINAPI TakeRunningProgram(unsigned event, DelayLoadInfo* info) {
  if (event != dliNotePreLoadLibrary) return nullptr;
  if (::_stricmp(info->szDll, "node.exe") != 0) return nullptr;
  return reinterpret_cast<FARPROC>(::GetModuleHandleW(nullptr));
}

}  // namespace

// Constant in one SDK and not in another.
decltype(__pfnDliNotifyHook2) __pfnDliNotifyHook2 = TakeRunningProgram;
