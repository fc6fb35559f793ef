{
  "includes": ["native/sources.gypi"],
  "variables": {
    # Absolute, because these paths go into plain compiler flags, which gyp does not rewrite.
    "node_addon_api_dir": "<!(node -p \"require('node:path').resolve(require('node-addon-api').include_dir)\")",
  },
  "targets": [
    {
      "target_name": "bucketlock",
      "defines": ["<@(addon_defines)"],
      "include_dirs": ["native"],
      "sources": ["<@(sources_common)"],
      # Node's common.gypi puts its own dialect and a suppressed warning in front of ours.
      "cflags!": ["-Wno-unused-parameter"],
      "cflags_cc!": ["<@(cflags_cc_removed)"],
      # System headers: Node's and node-addon-api's own code does not have to pass our warnings.
      "cflags_cc": [
        "<@(cflags_cc)",
        "-isystem", "<(node_addon_api_dir)",
        "-isystem", "<(node_root_dir)/include/node",
      ],
      "configurations": {
        # Fortified calls need an optimised build.
        "Release": {"defines": ["<@(release_defines)"]},
      },
      "conditions": [
        ["OS!='win'", {"sources": ["<@(sources_posix)"]}],
        # The C++ library is linked in and hidden, so that neither the user's copy nor Node's exported symbols replace
        # it. libgcc stays shared: its static unwinder would demand a newer glibc.
        ["OS=='linux'", {
          "sources": ["<@(sources_linux)"],
          "ldflags": ["<@(ldflags_linux)", "<@(ldflags_linux_gcc)"],
        }],
        ["OS=='mac'", {
          "sources": ["<@(sources_darwin)"],
          "xcode_settings": {
            "CLANG_CXX_LANGUAGE_STANDARD": "c++17",
            "MACOSX_DEPLOYMENT_TARGET": "<(macos_deployment_target)",
            "OTHER_CPLUSPLUSFLAGS": [
              "<@(cflags_cc)",
              "-isystem", "<(node_addon_api_dir)",
              "-isystem", "<(node_root_dir)/include/node",
            ],
          },
        }],
        # The hook is our own, so that the cross build has the same.
        ["OS=='win'", {
          "sources": ["<@(sources_win32)"],
          "defines": ["<@(defines_win32)"],
          "include_dirs": ["<(node_addon_api_dir)"],
          "libraries": ["<@(libraries_win32)"],
          "win_delay_load_hook": "false",
          "msvs_settings": {
            "VCCLCompilerTool": {"AdditionalOptions": ["/std:c++17"]},
            "VCLinkerTool": {"DelayLoadDLLs": ["node.exe"]},
          },
        }],
      ],
    },
  ],
}
