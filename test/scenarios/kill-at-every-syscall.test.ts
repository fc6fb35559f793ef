import { test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { TracedTurns } from '../helpers/traced-turns.js';
import type { TurnOptions } from '../helpers/traced-turns.js';

/** The engine's own calls may come between; then the point is tried again. */
const TRIES = 10;

const driver = useDriver();
const temp = useTempDir();

const turns: Record<string, TurnOptions> = {
  'of a fresh lock': {},
  'of a fresh lock on the thread pool': { command: 'markedTurnAsync' },
  'of a fresh PID-only lock': { lockOptions: { recordFormat: 'pid' } },
  'over a dead record': { dead: true },
  // There a private file has a name.
  'where there are no nameless files': { lacks: ['no-nameless-files'] },
  'where there are neither nameless files nor exclusive renames': {
    lacks: ['no-nameless-files', 'no-exclusive-rename'],
  },
  'over a dead record where there are neither nameless files nor exclusive renames': {
    lacks: ['no-nameless-files', 'no-exclusive-rename'],
    dead: true,
  },
};

test.for(Object.entries(turns))(
  'a death at any system call of a turn %s costs nobody a wait and leaves no litter',
  async ([, options], context) => {
    const turns = await TracedTurns.learn(context, driver, temp, options);
    await turns.forEach(async (index) => {
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        const { victim, bucket, tracer } = await turns.make(index, 'signal=KILL');
        await Promise.race([victim.ended, tracer.ended]);
        await victim.kill();
        await tracer.ended;
        // Wherever it died: the claim holds there as well.
        await turns.expectRecovered(bucket);
        const trace = tracer.read();
        if (turns.hasReached(trace, index) && trace.names.length === index + 1) return;
      }
      throw new Error(`never killed at call ${index} of ${turns.names.join(' ')}`);
    });
  },
);
