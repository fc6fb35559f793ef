import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import type { Participant } from '../helpers/participant.js';
import { lockfileOf } from '../helpers/records.js';
import { isStress } from '../helpers/rounds.js';
import { useTempDir } from '../helpers/temp-dir.js';

interface Crowd {
  readonly processes: number;
  /** Worker threads of each process that contend; without any it is the main thread. */
  readonly threads: number;
  readonly durationMs: number;
  readonly killEveryMs: number;
  /** Far longer than the turns that are ahead of anyone: to miss it is to be stranded. */
  readonly waitMs: number;
}

const crowds: Record<string, Crowd> = {
  '8 processes': {
    processes: 8,
    threads: 0,
    durationMs: 20_000,
    killEveryMs: 50,
    waitMs: 15_000,
  },
  '32 processes of 4 threads each': {
    processes: 32,
    threads: 4,
    durationMs: isStress ? 240_000 : 12_000,
    killEveryMs: 250,
    waitMs: 60_000,
  },
};
const FEWEST_DEAD_HOLDERS = 3;
const PATIENCE_MS = 600_000;

const driver = useDriver();
const temp = useTempDir();

/** One that contends, until it is stopped or its process is killed. */
interface Contender {
  readonly participant: Participant;
  readonly reported: number[];
  readonly loop: Promise<'stopped' | 'ended'>;
}

interface Life {
  readonly host: Participant;
  readonly contenders: readonly Contender[];
  killed: boolean;
}

/** Who holds the lock, or did a moment ago. */
function recordedPid(bucket: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(lockfileOf(bucket), 'utf8'), 10);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

test.for(Object.entries(crowds))(
  'random kills among %s lose no turn, admit no second holder and strand nobody',
  { timeout: PATIENCE_MS },
  async ([, { processes, threads, durationMs, killEveryMs, waitMs }]) => {
    const bucket = temp.directory();
    const files = temp.directory('files');
    const counter = join(files, 'counter');
    const sentinel = join(files, 'sentinel');
    writeFileSync(counter, '');
    const lives: Life[] = [];
    const failures: unknown[] = [];
    let inherited = 0;

    const contend = (participant: Participant, isKilled: () => boolean): Contender => {
      const reported: number[] = [];
      participant.onTurn = ({ turn, afterDeath }) => {
        reported.push(turn);
        if (afterDeath) inherited += 1;
      };
      const loop = participant
        .call('count', { bucket, counter, sentinel, waitMs })
        .then(() => 'stopped' as const)
        .catch((error: unknown) => {
          // A busy error here is a deadline missed; anything else is worse.
          if (!isKilled()) failures.push(error);
          return 'ended' as const;
        });
      return { participant, reported, loop };
    };

    const start = async (): Promise<Life> => {
      const host = await driver.spawn();
      const workers = Array.from({ length: threads }, () => driver.startWorker(host));
      const participants = threads === 0 ? [host] : await Promise.all(workers);
      const contenders = participants.map((one) => contend(one, () => life.killed));
      const life: Life = { host, contenders, killed: false };
      lives.push(life);
      return life;
    };

    // Of many, a random one hardly ever holds.
    const placeOfHolder = (): number => {
      const pid = recordedPid(bucket);
      return running.findIndex(({ host }) => host.pid === pid);
    };

    const running = await Promise.all(Array.from({ length: processes }, start));
    const deaths: Promise<void>[] = [];
    const begin = performance.now();
    // On a machine too slow for such a rate it is not the kills that are to be counted, but those
    // that hit a process at work under the lock: it goes on until there were some.
    const isDone = (ms: number) =>
      ms > durationMs && (inherited >= FEWEST_DEAD_HOLDERS || ms > 3 * durationMs);
    for (let kill = 1; !isDone(performance.now() - begin); kill += 1) {
      await sleep(Math.max(0, begin + kill * killEveryMs - performance.now()));
      if (running.filter(({ killed }) => !killed).length <= processes / 2) continue;
      const place = kill % 2 === 0 ? placeOfHolder() : Math.floor(Math.random() * processes);
      const victim = running[place];
      // Nobody held, or its replacement is not there yet.
      if (victim === undefined || victim.killed) continue;
      victim.killed = true;
      deaths.push(
        victim.host.kill().then(async () => {
          running[place] = await start();
        }),
      );
    }
    await Promise.all(deaths);
    const last = running.flatMap(({ contenders }) => contenders);
    await Promise.all(last.map(({ participant }) => participant.call('stop', {})));
    const all = lives.flatMap(({ contenders }) => contenders);
    const results = await Promise.all(all.map(({ loop }) => loop));

    expect(failures).toEqual([]);
    const lines = readFileSync(counter, 'utf8').trimEnd().split('\n');
    // Every number once, in order, none left out: no turn was lost, none overlapped.
    expect(lines.map((line) => Number(line.split(' ')[0]))).toEqual(lines.map((_, i) => i + 1));
    for (const { contenders, killed } of lives) {
      for (const { participant, reported } of contenders) {
        const written = lines
          .filter((line) => line.endsWith(` ${participant.id}`))
          .map((line) => Number(line.split(' ')[0]));
        expect(written.slice(0, reported.length)).toEqual(reported);
        // Only one that was killed may have written a turn that it could not report any more.
        expect(written.length - reported.length).toBeLessThanOrEqual(killed ? 1 : 0);
      }
    }
    expect(results.filter((result) => result === 'stopped')).toHaveLength(last.length);
    expect(inherited).toBeGreaterThanOrEqual(FEWEST_DEAD_HOLDERS);
  },
);
