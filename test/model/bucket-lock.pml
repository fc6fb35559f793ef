/*
 * The bucket lock on POSIX. Three processes acquire, hold, release, break and inspect, without end and in any order.
 * README.md says what is left out and what every -D does.
 */

#if defined(RECORD_LATE) || defined(RECORD_LATE_GUARDED) || defined(GUARD_LATE)
#define HOLDS_LATER    /* the last step of acquiring is not the publishing */
#endif

#if defined(BARRIER) || defined(LIVENESS)
#define ACQUIRE_ONLY
#define DEAD_AT_FIRST
#define NO_FAILURES
#endif
#ifdef NAMED
#define ACQUIRE_ONLY
#define LOWEST_INODE
#endif

#include "kernel.inc"
#include "claims.inc"
#include "steps.inc"
#include "broken.inc"

byte ended;            /* processes that will make no further step */

proctype process(byte me) {
  bool breaking;       /* breakLock: done when the dead lock is removed */
  bool removed;        /* has removed a dead lock and goes on to create */
#ifdef BARRIER
  bool tried;
#endif

idle:
  /* Starting over and giving up both lead here, where another attempt is one of the choices: the claims hold
     whatever bound an attempt sets itself. */
  atomic {
    breaking = false;
    removed = false;
#ifdef IDENTITY_REMEMBERED
    seen[me] = NONE;
#endif
    if
#if defined(NAMED)
    :: me < 2 -> goto judge
    :: me == 2 -> goto sweep
#elif defined(LOOKER)
    :: me < 2 -> goto judge
    :: me == 2 -> goto inspect
#else
    :: goto judge
#endif
#ifndef ACQUIRE_ONLY
    :: breaking = true; goto judge
    :: goto inspect
#endif
#if defined(BARRIER)
    :: tried -> goto stop
#elif !defined(LIVENESS)
    :: goto stop
#endif
    fi
  };

judge:
#ifdef BARRIER
  tried = true;
#endif
#ifdef IDENTITY_REMEMBERED
  remember_identity(me);
#endif
  open_lock(me);
  take_guard(me);
#if defined(IDENTITY_REMEMBERED)
  compare_identity(me, seen[me]);
#elif !defined(NO_COMPARE)
  compare_identity(me, fd[me]);
#endif
  judge_record(me);
#if defined(RENAME_ASIDE)
  remove_by_rename(me);
#elif defined(UNLINK_UNGUARDED)
  drop_guard(me);
  remove_lock(me);
#else
  remove_lock(me);
#endif

unlock:
  drop_guard(me);
drop:
  atomic {
    if
    :: KILLED(me)
    :: true ->
         looking[me] = false;
#ifdef NAMED
         token[me] = NONE;
#endif
         sys_close(me);
         printf("%d: close\n", me)
    fi;
    if
    :: removed -> removed = false; goto create
#ifdef BARRIER
    :: !removed -> goto idle       /* who has removed a dead lock must not give up before it has tried to create */
#else
    :: goto idle
#endif
    fi
  }

create:
#if defined(RECORD_LATE)
  create_in_place(me);
  guard_own(me);
  write_record(me);
  hold_late(me);
#elif defined(RECORD_LATE_GUARDED)
  create_private(me);
  guard_own(me);
  publish(me);
  write_record(me);
  hold_late(me);
#elif defined(GUARD_LATE)
  create_private(me);
  write_record(me);
  publish(me);
  guard_own(me);
  hold_late(me);
#elif defined(PUBLISH_REPLACING)
  create_private(me);
  guard_own(me);
  write_record(me);
  publish_replacing(me);
#else
  create_private(me);
  guard_own(me);
  write_record(me);
  publish(me);
#endif
#ifdef NAMED_LINK
  unlink_private(me);
#endif

progress_held:
  /* The holder works for as long as it likes. */
#ifdef BARRIER
  goto stop;
#endif
#ifdef RELEASE_AT_ONCE
  release_at_once(me);
  goto unlock;
#endif
#ifdef RELEASE_UNLOCKS_FIRST
  let_go_first(me);
#endif
#ifndef RELEASE_UNCHECKED
  check_own(me);
#endif
  unlink_own(me);
  goto unlock;

abandon:
#if defined(NAMED) && !defined(LEAVE_PRIVATE)
  unlink_private(me);
#endif
  atomic { claim_nothing_left(me); goto unlock };

inspect:
  open_to_look(me);
  test_guard(me);
#ifdef BARRIER
  goto stop;                       /* and stays there, sharing the guard */
#endif
  goto unlock;

#ifdef NAMED
sweep:
  open_private(me);
  take_guard(me);
  sweep_private(me);
  goto unlock;
#endif

stop:
  ended++
}

#ifdef BARRIER
/* Looks when the last has ended: the holder has not released. */
proctype probe() {
  atomic { ended == PROCESSES -> claim_someone_got_in() }
}
#else
/* Comes when the last has ended, and must get in by one plain attempt. */
proctype probe() {
  atomic {
    ended == PROCESSES ->
    if
    :: name == NONE
    :: name != NONE ->
         fd[PROBE] = name;
         claim_probe(!locked(fd[PROBE]));
         lock[PROBE] = EXCLUSIVE;
         claim_probe(name == fd[PROBE] && record[fd[PROBE]] != EMPTY);
         sys_unlink();
         sys_close(PROBE)
    fi;
    if
    :: no_free_inode -> claim_enough_inodes(); goto end
    :: else
    fi;
    new_inode(PROBE);
    claim_probe(!locked(fd[PROBE]));
    lock[PROBE] = EXCLUSIVE;
    record[fd[PROBE]] = COMPLETE;
    claim_probe(name == NONE);
    name = fd[PROBE];
    become_holder(PROBE);
#ifdef OTHER_NAMES
    claim_probe(sweepable(1) && sweepable(2) && sweepable(3))
#endif
  };
end:
  skip
}
#endif

init {
  atomic {
    /* A bucket never used, one with a dead lock, one with the debris of another writer. */
    if
#ifndef DEAD_AT_FIRST
    :: true
    :: name = 1; record[1] = DEBRIS
#endif
    :: name = 1; record[1] = COMPLETE
    fi;
#ifdef NO_RECYCLING
    used[1] = true;
#endif
    run process(0);
    run process(1);
    run process(2);
#ifdef OUTSIDER
    run outsider();
#endif
    run probe()
  }
}
