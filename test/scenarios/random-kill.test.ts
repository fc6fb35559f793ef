import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import type { Participant } from '../helpers/participant.js';
import { useTempDir } from '../helpers/temp-dir.js';

const PROCESSES = 8;
const DURATION_MS = 20_000;
const KILL_EVERY_MS = 50;
const FEWEST_DEAD_HOLDERS = 3;
/** Far longer than the few turns that are ahead of anyone: to miss it is to be stranded. */
const WAIT_MS = 15_000;

const driver = useDriver();
const temp = useTempDir();

interface Life {
  readonly participant: Participant;
  readonly reported: number[];
  readonly loop: Promise<'stopped' | 'ended'>;
  killed: boolean;
}

test('random kills lose no turn, admit no second holder and strand nobody', async () => {
  const bucket = temp.directory();
  const files = temp.directory('files');
  const counter = join(files, 'counter');
  const sentinel = join(files, 'sentinel');
  writeFileSync(counter, '');
  const lives: Life[] = [];
  const failures: unknown[] = [];
  let inherited = 0;

  const start = async (): Promise<Life> => {
    const participant = await driver.spawn();
    const reported: number[] = [];
    participant.onTurn = ({ turn, afterDeath }) => {
      reported.push(turn);
      if (afterDeath) inherited += 1;
    };
    const life: Life = {
      participant,
      reported,
      killed: false,
      loop: participant
        .call('count', { bucket, counter, sentinel, waitMs: WAIT_MS })
        .then(() => 'stopped' as const)
        .catch((error: unknown) => {
          // A busy error here is a deadline missed; anything else is worse.
          if (!life.killed) failures.push(error);
          return 'ended' as const;
        }),
    };
    lives.push(life);
    return life;
  };

  const running = await Promise.all(Array.from({ length: PROCESSES }, start));
  const deaths: Promise<void>[] = [];
  const begin = performance.now();
  // On a machine too slow for such a rate it is not the kills that are to be counted, but those
  // that hit a process at work under the lock: it goes on until there were some.
  const isDone = (ms: number) =>
    ms > DURATION_MS && (inherited >= FEWEST_DEAD_HOLDERS || ms > 3 * DURATION_MS);
  for (let kill = 1; !isDone(performance.now() - begin); kill += 1) {
    await sleep(Math.max(0, begin + kill * KILL_EVERY_MS - performance.now()));
    if (running.filter(({ killed }) => !killed).length <= PROCESSES / 2) continue;
    const place = Math.floor(Math.random() * PROCESSES);
    const victim = running[place];
    // Its replacement is not there yet.
    if (victim === undefined || victim.killed) continue;
    victim.killed = true;
    deaths.push(
      victim.participant.kill().then(async () => {
        running[place] = await start();
      }),
    );
  }
  await Promise.all(deaths);
  await Promise.all(running.map(({ participant }) => participant.call('stop', {})));
  const results = await Promise.all(lives.map(({ loop }) => loop));

  expect(failures).toEqual([]);
  const lines = readFileSync(counter, 'utf8').trimEnd().split('\n');
  // Every number once, in order, none left out: no turn was lost, none overlapped.
  expect(lines.map((line) => Number(line.split(' ')[0]))).toEqual(lines.map((_, i) => i + 1));
  for (const { participant, reported, killed } of lives) {
    const written = lines
      .filter((line) => line.endsWith(` ${participant.id}`))
      .map((line) => Number(line.split(' ')[0]));
    expect(written.slice(0, reported.length)).toEqual(reported);
    // Only one that was killed may have written a turn that it could not report any more.
    expect(written.length - reported.length).toBeLessThanOrEqual(killed ? 1 : 0);
  }
  expect(results.filter((result) => result === 'stopped')).toHaveLength(PROCESSES);
  expect(inherited).toBeGreaterThanOrEqual(FEWEST_DEAD_HOLDERS);
});
