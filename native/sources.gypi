{
  "variables": {
    "sources_common": [
      "native/addon.cc",
      "native/bucket_calls.cc",
      "native/bucket_contender.cc",
      "native/bucket_place.cc",
      "native/call.cc",
      "native/environment.cc",
      "native/flat_json.cc",
      "native/held_lockfile.cc",
      "native/job.cc",
      "native/judgement.cc",
      "native/lockfile.cc",
      "native/lockfile_birth.cc",
      "native/lockfile_calls.cc",
      "native/lockfile_inspection.cc",
      "native/lockfile_view.cc",
      "native/marshal.cc",
      "native/named_calls.cc",
      "native/named_claims.cc",
      "native/named_lock.cc",
      "native/owner_record.cc",
      "native/pool_attempt.cc",
      "native/private_files.cc",
      "native/wait_calls.cc",
      "native/wait_queue.cc",
      "native/wait_timekeeper.cc",
      "native/wait_worker.cc"
    ],
    "sources_posix": [
      "native/posix/file.cc",
      "native/posix/handle.cc",
      "native/posix/kernel_lock.cc",
      "native/posix/process.cc",
      "native/posix/queue_lock.cc",
      "native/posix/system_error.cc",
      "native/posix/thread.cc"
    ],
    "sources_linux": [
      "native/posix/file_linux.cc",
      "native/posix/process_linux.cc",
      "native/posix/queue_mark_linux.cc"
    ],
    "sources_darwin": [
      "native/posix/file_darwin.cc",
      "native/posix/module_darwin.cc",
      "native/posix/process_darwin.cc",
      "native/posix/queue_mark_darwin.cc"
    ],
    "sources_win32": [
      "native/win32/delay_load_hook.cc",
      "native/win32/file.cc",
      "native/win32/file_facts.cc",
      "native/win32/file_removal.cc",
      "native/win32/guard_wait.cc",
      "native/win32/handle.cc",
      "native/win32/kernel_lock.cc",
      "native/win32/module.cc",
      "native/win32/nt_file.cc",
      "native/win32/process.cc",
      "native/win32/queue_lock.cc",
      "native/win32/system_error.cc",
      "native/win32/thread.cc",
      "native/win32/win32_util.cc"
    ],
    "addon_defines": [
      "NAPI_VERSION=8",
      "NODE_ADDON_API_DISABLE_CPP_EXCEPTIONS",
      "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS"
    ],
    "defines_win32": [
      "_WIN32_WINNT=0x0a00",
      "NOMINMAX",
      "UNICODE",
      "WIN32_LEAN_AND_MEAN"
    ],
    "libraries_win32": [
      "-ladvapi32",
      "-lbcrypt",
      "-lntdll"
    ],
    "release_defines": [
      "_FORTIFY_SOURCE=2"
    ],
    "cflags_cc": [
      "-std=c++17",
      "-Wall",
      "-Wextra",
      "-Wpedantic",
      "-Werror",
      "-Wunused-parameter",
      "-fno-exceptions",
      "-fvisibility=hidden",
      "-fvisibility-inlines-hidden",
      "-fstack-protector-strong",
      "-ffunction-sections",
      "-fdata-sections"
    ],
    "cflags_cc_removed": [
      "-std=gnu++17",
      "-std=gnu++20",
      "-Wno-unused-parameter"
    ],
    "glibc_minimum": "2.17",
    "macos_deployment_target": "11.0",
    "ldflags_linux": [
      "-Wl,-z,relro,-z,now",
      "-Wl,-z,nodelete",
      "-Wl,--gc-sections"
    ],
    "sources_prebuild": [
      "native/prebuild/no_demangler.cc"
    ],
    "sources_prebuild_posix": [
      "native/prebuild/own_operators.cc"
    ],
    "sources_prebuild_linux": [
      "native/prebuild/no_unwinder.cc"
    ],
    "ldflags_linux_gcc": [
      "-static-libstdc++",
      "-Wl,--exclude-libs,ALL"
    ],
    "cflags_prebuild": [
      "-Os",
      "-fno-unwind-tables",
      "-fno-asynchronous-unwind-tables",
      "-fno-rtti",
      "-DNDEBUG",
      "-DBUILDING_NODE_EXTENSION"
    ],
    "flags_prebuild_linux": [
      "-fvisibility-global-new-delete=force-hidden",
      "-flto",
      "-Wl,--hash-style=gnu"
    ],
    "flags_prebuild_darwin": [
      "-fvisibility-global-new-delete=force-hidden",
      "-Wl,-install_name,@rpath/bucketlock.node",
      "-undefined",
      "dynamic_lookup",
      "-Wl,-x"
    ],
    "flags_prebuild_win32": [
      "-flto"
    ],
    "linker_flags_prebuild_win32": [
      "-DELAYLOAD:node.exe",
      "-OPT:REF",
      "-OPT:ICF"
    ]
  }
}
