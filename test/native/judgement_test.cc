#include "judgement.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <ostream>
#include <string_view>

namespace bucketlock {

// GoogleTest finds these by argument-dependent look-up, so they stand beside what they print.
void PrintTo(Verdict verdict, std::ostream* out) {
  *out << (verdict == Verdict::kDead ? "dead" : "held");
}

void PrintTo(Evidence evidence, std::ostream* out) {
  static constexpr const char* kNames[] = {
      "guard", "guard-free", "process-alive", "process-gone", "unstamped", "foreign", "unknown"};
  *out << kNames[static_cast<int>(evidence)];
}

void PrintTo(const LockfileFacts& facts, std::ostream* out) {
  static constexpr const char* kKinds[] = {"full", "pid-only", "malformed", "unknown-version"};
  static constexpr const char* kStates[] = {"alive", "gone", "reused", "unknown"};
  *out << "readable=" << facts.readable << " guard_held=" << facts.guard_held
       << " kind=" << kKinds[static_cast<int>(facts.kind)] << " guarded=" << facts.guarded
       << " recorded=" << facts.recorded_file_system << " seen=" << facts.seen_file_system
       << " trusted=" << facts.trusted << " process=" << kStates[static_cast<int>(facts.process)]
       << " aged=" << facts.aged;
}

namespace {

constexpr RecordKind kKinds[] = {RecordKind::kFull, RecordKind::kPidOnly, RecordKind::kMalformed,
                                 RecordKind::kUnknownVersion};
constexpr ProcessState kStates[] = {ProcessState::kAlive, ProcessState::kGone,
                                    ProcessState::kReused, ProcessState::kUnknown};
constexpr bool kBooleans[] = {false, true};
// Two that are on the list and no overlay, overlay itself, two that are not on the list, none.
constexpr std::string_view kFileSystems[] = {"ext", "tmpfs", "overlay", "nfs", "fuse", ""};

// Spelled out here once more, so that a slip in the list itself shows.
constexpr std::string_view kLocal[] = {"ext",   "xfs",   "btrfs", "f2fs",   "zfs",   "bcachefs",
                                       "tmpfs", "ramfs", "jfs",   "nilfs2", "fat",   "reiserfs",
                                       "apfs",  "hfs",   "ntfs",  "refs",   "exfat", "overlay"};
constexpr std::string_view kElsewhere[] = {"nfs", "smb",  "cifs",     "smb2",      "fuse",
                                           "9p",  "ceph", "afs",      "ecryptfs",  "0x12345678",
                                           "EXT", "ext ", "overlay2", "overlayfs", ""};

bool OnList(std::string_view file_system) {
  for (const std::string_view local : kLocal) {
    if (local == file_system) return true;
  }
  return false;
}

void ForEachCombination(const std::function<void(const LockfileFacts&)>& visit) {
  LockfileFacts facts;
  for (const bool readable : kBooleans) {
    for (const bool guard_held : kBooleans) {
      for (const RecordKind kind : kKinds) {
        for (const bool guarded : kBooleans) {
          for (const std::string_view recorded : kFileSystems) {
            for (const std::string_view seen : kFileSystems) {
              for (const bool trusted : kBooleans) {
                for (const ProcessState process : kStates) {
                  for (const bool aged : kBooleans) {
                    facts.readable = readable;
                    facts.guard_held = guard_held;
                    facts.kind = kind;
                    facts.guarded = guarded;
                    facts.recorded_file_system = recorded;
                    facts.seen_file_system = seen;
                    facts.trusted = trusted;
                    facts.process = process;
                    facts.aged = aged;
                    visit(facts);
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}

// The table as documented, the first row that applies decides.
struct Row {
  const char* name;
  bool (*applies)(const LockfileFacts&);
  Verdict verdict;
  Evidence evidence;
};

bool IsOverlay(std::string_view file_system) { return file_system == "overlay"; }

// Holder and judge see the file through one table of locks, as far as the record tells.
bool OneLockTable(const LockfileFacts& f) {
  if (f.trusted) return true;
  if (!OnList(f.seen_file_system)) return false;
  // A PID-only record names no file system; its writer promises nothing on an overlay.
  if (f.kind == RecordKind::kPidOnly) return !IsOverlay(f.seen_file_system);
  return OnList(f.recorded_file_system) &&
         IsOverlay(f.recorded_file_system) == IsOverlay(f.seen_file_system);
}

constexpr Row kTable[] = {
    {"unreadable", [](const LockfileFacts& f) { return !f.readable; }, Verdict::kHeld,
     Evidence::kUnknown},
    {"the guard is held", [](const LockfileFacts& f) { return f.guard_held; }, Verdict::kHeld,
     Evidence::kGuard},
    {"full and guarded, both on the list, guard free",
     [](const LockfileFacts& f) {
       return f.kind == RecordKind::kFull && f.guarded && OneLockTable(f);
     },
     Verdict::kDead, Evidence::kGuardFree},
    {"full, the judge trusts, guard free",
     [](const LockfileFacts& f) { return f.kind == RecordKind::kFull && f.trusted; },
     Verdict::kDead, Evidence::kGuardFree},
    {"PID-only and guarded, guard free",
     [](const LockfileFacts& f) {
       return f.kind == RecordKind::kPidOnly && f.guarded && OneLockTable(f);
     },
     Verdict::kDead, Evidence::kGuardFree},
    {"seen off the list",
     [](const LockfileFacts& f) { return !f.trusted && !OnList(f.seen_file_system); },
     Verdict::kHeld, Evidence::kForeign},
    {"recorded off the list, or overlay against another",
     [](const LockfileFacts& f) { return f.kind == RecordKind::kFull && !OneLockTable(f); },
     Verdict::kHeld, Evidence::kForeign},
    {"PID-only, gone",
     [](const LockfileFacts& f) {
       return f.kind == RecordKind::kPidOnly && f.process == ProcessState::kGone;
     },
     Verdict::kDead, Evidence::kProcessGone},
    {"PID-only, alive",
     [](const LockfileFacts& f) {
       return f.kind == RecordKind::kPidOnly && f.process == ProcessState::kAlive;
     },
     Verdict::kHeld, Evidence::kProcessAlive},
    {"PID-only, cannot tell", [](const LockfileFacts& f) { return f.kind == RecordKind::kPidOnly; },
     Verdict::kHeld, Evidence::kUnknown},
    {"malformed, old",
     [](const LockfileFacts& f) { return f.kind == RecordKind::kMalformed && f.aged; },
     Verdict::kDead, Evidence::kUnstamped},
    {"malformed, young", [](const LockfileFacts& f) { return f.kind == RecordKind::kMalformed; },
     Verdict::kHeld, Evidence::kUnstamped},
    {"full, not guarded", [](const LockfileFacts& f) { return f.kind == RecordKind::kFull; },
     Verdict::kHeld, Evidence::kUnknown},
    {"a version we do not know", [](const LockfileFacts&) { return true; }, Verdict::kHeld,
     Evidence::kUnknown},
};

constexpr std::size_t kRows = sizeof(kTable) / sizeof(kTable[0]);

std::size_t RowOf(const LockfileFacts& facts) {
  std::size_t row = 0;
  while (!kTable[row].applies(facts)) ++row;
  return row;
}

bool IsDead(const LockfileFacts& facts) { return Judge(facts).verdict == Verdict::kDead; }

TEST(Judgement, FollowsTheTableForEveryCombinationOfFacts) {
  std::array<int, kRows> hits = {};
  int combinations = 0;
  ForEachCombination([&](const LockfileFacts& facts) {
    const std::size_t row = RowOf(facts);
    const Judgement judged = Judge(facts);
    ++hits[row];
    ++combinations;
    EXPECT_EQ(judged.verdict, kTable[row].verdict)
        << kTable[row].name << ": " << testing::PrintToString(facts);
    EXPECT_EQ(judged.evidence, kTable[row].evidence)
        << kTable[row].name << ": " << testing::PrintToString(facts);
  });
  EXPECT_EQ(combinations, 2 * 2 * 4 * 2 * 6 * 6 * 2 * 4 * 2);
  for (std::size_t row = 0; row < kRows; ++row) {
    EXPECT_GT(hits[row], 0) << "no combination for: " << kTable[row].name;
  }
}

TEST(Judgement, AHeldGuardIsNeverDead) {
  ForEachCombination([](const LockfileFacts& facts) {
    if (!facts.guard_held) return;
    EXPECT_FALSE(IsDead(facts)) << testing::PrintToString(facts);
    if (facts.readable) {
      EXPECT_EQ(Judge(facts).evidence, Evidence::kGuard);
    }
  });
}

TEST(Judgement, WhatCannotBeReadIsHeldForReasonsUnknown) {
  ForEachCombination([](const LockfileFacts& facts) {
    if (facts.readable) return;
    EXPECT_FALSE(IsDead(facts)) << testing::PrintToString(facts);
    EXPECT_EQ(Judge(facts).evidence, Evidence::kUnknown);
  });
  EXPECT_FALSE(IsDead(LockfileFacts())) << "nothing known at all";
}

TEST(Judgement, DeadOnlyWithProof) {
  int dead = 0;
  ForEachCombination([&dead](const LockfileFacts& facts) {
    if (!IsDead(facts)) return;
    ++dead;
    ASSERT_TRUE(facts.readable) << testing::PrintToString(facts);
    ASSERT_FALSE(facts.guard_held) << testing::PrintToString(facts);
    ASSERT_TRUE(facts.trusted || OnList(facts.seen_file_system)) << testing::PrintToString(facts);
    const bool promised = facts.guarded || (facts.trusted && facts.kind == RecordKind::kFull);
    switch (Judge(facts).evidence) {
      case Evidence::kGuardFree:
        ASSERT_TRUE(promised) << testing::PrintToString(facts);
        ASSERT_TRUE(facts.kind == RecordKind::kFull || facts.kind == RecordKind::kPidOnly);
        break;
      case Evidence::kProcessGone:
        ASSERT_EQ(facts.process, ProcessState::kGone) << testing::PrintToString(facts);
        ASSERT_EQ(facts.kind, RecordKind::kPidOnly) << testing::PrintToString(facts);
        break;
      case Evidence::kUnstamped:
        ASSERT_TRUE(facts.aged) << testing::PrintToString(facts);
        ASSERT_EQ(facts.kind, RecordKind::kMalformed) << testing::PrintToString(facts);
        break;
      case Evidence::kGuard:
      case Evidence::kProcessAlive:
      case Evidence::kForeign:
      case Evidence::kUnknown:
        FAIL() << "no proof: " << testing::PrintToString(facts);
    }
  });
  EXPECT_GT(dead, 0);
}

TEST(Judgement, AnUnknownVersionIsNeverDead) {
  ForEachCombination([](const LockfileFacts& facts) {
    if (facts.kind == RecordKind::kUnknownVersion) {
      EXPECT_FALSE(IsDead(facts)) << testing::PrintToString(facts);
    }
  });
}

TEST(Judgement, OverlayMatchesOnlyOverlay) {
  LockfileFacts facts;
  facts.readable = true;
  facts.kind = RecordKind::kFull;
  facts.guarded = true;
  facts.process = ProcessState::kGone;
  for (const std::string_view recorded : kLocal) {
    for (const std::string_view seen : kLocal) {
      facts.recorded_file_system = recorded;
      facts.seen_file_system = seen;
      const bool matches = IsOverlay(recorded) == IsOverlay(seen);
      EXPECT_EQ(IsDead(facts), matches) << recorded << " seen as " << seen;
      EXPECT_EQ(Judge(facts).evidence, matches ? Evidence::kGuardFree : Evidence::kForeign);
    }
  }
}

TEST(Judgement, APidOnlyPromiseCountsForNothingOnAnOverlay) {
  LockfileFacts facts;
  facts.readable = true;
  facts.kind = RecordKind::kPidOnly;
  facts.guarded = true;
  facts.process = ProcessState::kAlive;
  facts.seen_file_system = "overlay";
  EXPECT_EQ(Judge(facts).evidence, Evidence::kProcessAlive);
  EXPECT_FALSE(IsDead(facts));
  facts.seen_file_system = "ext";
  EXPECT_EQ(Judge(facts).evidence, Evidence::kGuardFree);
  EXPECT_TRUE(IsDead(facts));
  facts.guarded = false;
  EXPECT_EQ(Judge(facts).evidence, Evidence::kProcessAlive);
  EXPECT_FALSE(IsDead(facts));
}

TEST(Judgement, TheProcessDecidesOnlyWhereTheRecordIsPidOnly) {
  ForEachCombination([](const LockfileFacts& facts) {
    if (facts.kind == RecordKind::kPidOnly) return;
    LockfileFacts other = facts;
    other.process = ProcessState::kGone;
    EXPECT_EQ(Judge(facts).verdict, Judge(other).verdict) << testing::PrintToString(facts);
    EXPECT_EQ(Judge(facts).evidence, Judge(other).evidence) << testing::PrintToString(facts);
  });
}

TEST(Judgement, AgeDecidesOnlyWhereTheRecordIsMalformed) {
  ForEachCombination([](const LockfileFacts& facts) {
    if (facts.kind == RecordKind::kMalformed) return;
    LockfileFacts other = facts;
    other.aged = !facts.aged;
    EXPECT_EQ(Judge(facts).verdict, Judge(other).verdict) << testing::PrintToString(facts);
  });
}

TEST(Judgement, TrustTurnsNothingFromDeadToHeldAndNeverSaysForeign) {
  ForEachCombination([](const LockfileFacts& facts) {
    LockfileFacts trusting = facts;
    trusting.trusted = true;
    EXPECT_NE(Judge(trusting).evidence, Evidence::kForeign) << testing::PrintToString(facts);
    if (IsDead(facts)) {
      EXPECT_TRUE(IsDead(trusting)) << testing::PrintToString(facts);
    }
  });
}

TEST(Judgement, NothingIsReclaimedOffTheListWithoutTrust) {
  ForEachCombination([](const LockfileFacts& facts) {
    if (facts.trusted || OnList(facts.seen_file_system)) return;
    EXPECT_FALSE(IsDead(facts)) << testing::PrintToString(facts);
  });
}

TEST(AllowList, HoldsLocalFileSystemsOnly) {
  for (const std::string_view local : kLocal) EXPECT_TRUE(IsAllowListed(local)) << local;
  for (const std::string_view other : kElsewhere) EXPECT_FALSE(IsAllowListed(other)) << other;
}

TEST(AllowList, AGuardIsPromisedWhereItWillBeBelieved) {
  for (const RecordFormat format : {RecordFormat::kFull, RecordFormat::kPidOnly}) {
    for (const std::string_view file_system : kLocal) {
      LockfileFacts facts;
      facts.readable = true;
      facts.kind = format == RecordFormat::kFull ? RecordKind::kFull : RecordKind::kPidOnly;
      facts.guarded = CanPromiseGuard(file_system, format);
      facts.process = ProcessState::kAlive;
      if (format == RecordFormat::kFull) facts.recorded_file_system = file_system;
      facts.seen_file_system = file_system;
      EXPECT_EQ(IsDead(facts), facts.guarded) << file_system;
      EXPECT_EQ(facts.guarded, format == RecordFormat::kFull || !IsOverlay(file_system));
    }
    for (const std::string_view file_system : kElsewhere) {
      EXPECT_FALSE(CanPromiseGuard(file_system, format)) << file_system;
    }
  }
}

}  // namespace
}  // namespace bucketlock
