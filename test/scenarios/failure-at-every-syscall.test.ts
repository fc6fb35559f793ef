import { expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { RemoteError } from '../helpers/protocol.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { TracedTurns } from '../helpers/traced-turns.js';
import type { TurnOptions } from '../helpers/traced-turns.js';

/** The engine's own calls may come between; then the point is tried again. */
const TRIES = 10;

const driver = useDriver();
const temp = useTempDir();

const turns: Record<string, TurnOptions> = {
  'of a fresh lock': {},
  'over a dead record': { dead: true },
};

/** These cannot fail, or are the marker. */
const excepted = ['access', 'getpid'];

test.for(Object.entries(turns))(
  'an I/O error at any system call of a turn %s is reported or harmless, and strands nobody',
  async ([, options], context) => {
    const turns = await TracedTurns.learn(context, driver, temp, options);
    const published = turns.names.indexOf('linkat');
    const visit = async (index: number) => {
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        const { victim, bucket, tracer, turn } = await turns.make(index, 'error=EIO');
        const error = await turn.then(
          () => undefined,
          (reason: unknown) => reason,
        );
        // If the error met a call of the engine's own, the process may have ended.
        if (error instanceof RemoteError) {
          expect(['LockError', 'BucketBusyError']).toContain(error.remote.name);
          // An acquire that fails holds nothing, though its process lives on.
          if (index <= published) await turns.expectRecovered(bucket);
        }
        const trace = await tracer.stop();
        const diedOfIt = victim.hasEnded;
        await victim.kill();
        await turns.expectRecovered(bucket);
        if (!diedOfIt && turns.hasReached(trace, index)) return;
      }
      throw new Error(`never failed at call ${index} of ${turns.names.join(' ')}`);
    };
    await turns.forEach(visit, (name) => !excepted.includes(name));
  },
);
