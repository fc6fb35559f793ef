import { describe, expect, test } from 'vitest';
import type { TestContext } from 'vitest';

import { useTempDir } from '../helpers/temp-dir.js';
import { check, requireSpin } from './spin.js';
import type { Search, Verdict } from './spin.js';

const temp = useTempDir();
const timeout = 900_000;

interface Run {
  flags: string[];
  /** @default 'full' where the claim holds, 'shortest' where it does not. */
  search?: Search;
  bounds: string;
}

interface Refutation extends Run {
  violated: string;
}

/** One claim alone, about processes that only acquire and release, from a dead lock. */
function only(claim: string, ...flags: string[]): Omit<Refutation, 'bounds'> {
  const scene = ['ACQUIRE_ONLY', 'DEAD_AT_FIRST', 'NO_FAILURES'];
  const claimed = `CLAIM_${claim.toUpperCase()}`;
  const crashes = flags.some((flag) => flag.startsWith('CRASHES=')) ? [] : ['CRASHES=0'];
  return { flags: [...scene, ...crashes, 'ONLY', claimed, ...flags], violated: claim };
}

const small = '3 processes, no crash, 4 inodes recycled, rounds without end';
const smallNamed = '3 processes, no crash, 7 inodes recycled, rounds without end';

const holding: Record<string, Run> = {
  'the same with a private file that has a name, published by rename, while a sweeper is at work': {
    flags: ['NAMED', 'CRASHES=2'],
    bounds: '2 acquirers, a sweeper and a late one, 2 crashes, 7 inodes recycled, 3 private names',
  },
  'the same where the private file is published by link and unlink': {
    flags: ['NAMED', 'NAMED_LINK', 'CRASHES=1'],
    bounds: '2 acquirers, a sweeper and a late one, 1 crash, 7 inodes recycled, 3 private names',
  },
  'of three that meet one dead lock exactly one gets in, however soon the others give up': {
    flags: ['BARRIER', 'CRASHES=0'],
    bounds: '3 processes, no crash, 4 inodes recycled, attempts without end',
  },
  'as long as processes keep trying, one after another gets in': {
    flags: ['LIVENESS', 'CRASHES=2'],
    search: 'progress',
    bounds: '3 processes, 2 crashes, 4 inodes recycled, rounds without end, weak fairness',
  },
  'a release that could compare and unlink in one step would spare every successor': {
    flags: ['OUTSIDER', 'RELEASE_AT_ONCE', 'ONLY', 'CLAIM_REMOVED_SUCCESSOR', 'CRASHES=1'],
    bounds: '3 processes, 1 crash, 1 removal by hand, 4 inodes recycled, rounds without end',
  },
  'an identity remembered without its descriptor would do if inodes were never recycled': {
    flags: only('two_holders', 'IDENTITY_REMEMBERED', 'NO_RECYCLING', 'INODES=5', 'LOWEST_INODE')
      .flags,
    bounds: '3 processes, no crash, 5 inodes, each used once',
  },
};

const broken: Record<string, Refutation> = {
  'reclaiming by rename aside': { ...only('two_holders', 'RENAME_ASIDE'), bounds: smallNamed },
  'reclaiming by rename aside, looking what it was, and putting it back': {
    ...only('two_holders', 'RENAME_ASIDE', 'RENAME_ASIDE_VERIFIED'),
    bounds: smallNamed,
  },
  'unlinking without the guard': { ...only('two_holders', 'UNLINK_UNGUARDED'), bounds: small },
  'taking the guard without comparing identities': {
    ...only('two_holders', 'NO_COMPARE'),
    bounds: small,
  },
  'writing the record after publishing, where an empty one is dead at once': {
    ...only('two_holders', 'RECORD_LATE', 'EMPTY_IS_DEAD'),
    bounds: small,
  },
  'writing the record after publishing, where an empty one is dead after two seconds': {
    ...only('two_holders', 'RECORD_LATE'),
    bounds: small,
  },
  'writing the record after publishing under the guard, which strands': {
    ...only('stranded', 'RECORD_LATE_GUARDED', 'CRASHES=1'),
    bounds: '3 processes, 1 crash, 4 inodes recycled, rounds without end',
  },
  'taking the guard after publishing': { ...only('two_holders', 'GUARD_LATE'), bounds: small },
  'publishing by a call that replaces': {
    ...only('two_holders', 'PUBLISH_REPLACING'),
    bounds: small,
  },
  'remembering an identity without keeping its descriptor': {
    ...only('two_holders', 'IDENTITY_REMEMBERED'),
    bounds: small,
  },
  'unlocking before the unlink of a release': {
    ...only('removed_successor', 'RELEASE_UNLOCKS_FIRST'),
    bounds: small,
  },
  'releasing without a look at the name, after a removal by hand': {
    ...only('removed_successor', 'OUTSIDER', 'RELEASE_UNCHECKED'),
    bounds: small,
  },
  'a failed attempt that leaves its private name': {
    ...only('left_behind', 'NAMED', 'LEAVE_PRIVATE'),
    bounds: '2 acquirers and a sweeper, no crash, 7 inodes recycled, 3 private names',
  },
  'inspecting with an exclusive lock': {
    flags: ['INSPECT_EXCLUSIVE', 'CRASHES=0', 'ONLY', 'CLAIM_LOOKED_LIKE_HOLDING'],
    violated: 'looked_like_holding',
    bounds: small,
  },
};

/** The claims that no variant above is about, each broken by one of them: none holds by mistake. */
const teeth: Record<string, Refutation> = {
  'that nobody removes a live lock': {
    ...only('removed_from_holder', 'NO_COMPARE'),
    bounds: small,
  },
  'that no holder loses its lock': { ...only('lost', 'NO_COMPARE'), bounds: small },
  'that one more gets in when all have ended or died': {
    ...only('probe_kept_out', 'RECORD_LATE_GUARDED', 'CRASHES=1'),
    bounds: '3 processes and a late one, 1 crash, 4 inodes recycled, rounds without end',
  },
  'that the model has inodes enough': {
    ...only('out_of_inodes', 'INODES=2'),
    bounds: '3 processes, no crash, 2 inodes recycled, rounds without end',
  },
};

const limits: Record<string, Refutation> = {
  'a removal by hand between the look and the unlink of a release costs the successor its file': {
    ...only('removed_successor', 'OUTSIDER'),
    bounds: small,
  },
  'who stands still while it looks at a dead lock keeps everybody out': {
    flags: ['BARRIER', 'LOOKER', 'CRASHES=0'],
    violated: 'nobody_got_in',
    bounds: '2 acquirers and 1 inspector, no crash, 4 inodes recycled',
  },
  'who looks at a dead lock without end may keep everybody out': {
    flags: ['LIVENESS', 'LOOKER', 'CRASHES=0'],
    search: 'progress',
    violated: 'non-progress cycle',
    bounds: '2 acquirers and 1 inspector, no crash, 4 inodes recycled, weak fairness',
  },
};

async function search(context: TestContext, run: Run, otherwise: Search): Promise<Verdict> {
  requireSpin(context);
  const how = run.search ?? otherwise;
  const verdict = await check(run.flags, how, temp.directory('model'), context.signal);
  console.log(`${run.bounds}\n${verdict.cost}`);
  return verdict;
}

async function mustBeRefuted(context: TestContext, run: Refutation): Promise<void> {
  const verdict = await search(context, run, 'shortest');
  expect(verdict).toMatchObject({ errors: 1, violated: run.violated });
  expect(verdict.trace).not.toEqual([]);
  // A cycle's trace is as long as the search was deep, and tells nobody anything.
  if (run.search !== 'progress') console.log(verdict.trace.join('\n'));
}

async function mustHold(context: TestContext, run: Run): Promise<Verdict> {
  const verdict = await search(context, run, 'full');
  const found = { errors: 0, violated: undefined, complete: true };
  expect(verdict, verdict.trace.join('\n')).toMatchObject(found);
  return verdict;
}

describe('the protocol holds:', () => {
  const whole =
    'never two holders, nobody stranded, nothing of others removed, nothing left behind';
  test(whole, { timeout }, async (context) => {
    const { unreached } = await mustHold(context, {
      flags: [],
      bounds: '3 processes and a late one, crashes and rounds without end, 4 inodes recycled',
    });
    // Every step is taken in some execution, but for what a release does that finds its lock lost.
    expect(unreached).toEqual(['holding[me] = 0']);
  });

  for (const [claim, run] of Object.entries(holding)) {
    test(claim, { timeout }, async (context) => {
      await mustHold(context, run);
    });
  }
});

describe('refuted:', () => {
  for (const [variant, run] of Object.entries(broken)) {
    test(variant, { timeout }, (context) => mustBeRefuted(context, run));
  }
});

describe('can fail: the claim', () => {
  for (const [claim, run] of Object.entries(teeth)) {
    test(claim, { timeout }, (context) => mustBeRefuted(context, run));
  }
});

describe('a limit, and known:', () => {
  for (const [limit, run] of Object.entries(limits)) {
    test(limit, { timeout }, (context) => mustBeRefuted(context, run));
  }
});
