import { split } from '../contenders/index.mjs';
import { Participant } from '../harness/participant.mjs';
import { residentBytes } from '../harness/process-status.mjs';
import { summary } from '../harness/statistics.mjs';
import { letWait } from '../harness/wait.mjs';
import { now } from '../participant/now.mjs';

/** The C program waits for the same holder as bucketlock: tearing that down takes most of it. */
const HOLDER_OF = { c: 'bucketlock' };

/**
 * Nanoseconds from the SIGKILL of the holder to the lock being held by the process that waits for
 * it, and the bytes that the holder had resident. `agedRounds`: of proper-lockfile, which has to
 * wait until the lock is `staleMs` old.
 */
export async function recovery(work, { rounds, agedRounds, staleMs }) {
  const { able, reasons } = await split('recovery');
  const lines = able.map((name) => lineOf(work, name, staleMs));
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const line of lines) {
        if (line.name !== 'proper-lockfile' || round < agedRounds) await killHolder(work, line);
      }
    }
  } finally {
    await Promise.all(lines.map(({ waiter }) => waiter.end()));
  }
  const measured = lines.map(({ name, samples, resident }) => [
    name,
    { ...summary(samples), holderBytes: summary(resident).median },
  ]);
  return { ...Object.fromEntries(measured), ...reasons };
}

function lineOf(work, name, staleMs) {
  const directory = work.directory();
  const options = { staleMs };
  const waiter = new Participant(work, name, directory, options);
  return { name, directory, options, waiter, samples: [], resident: [] };
}

async function killHolder(work, { name, directory, options, waiter, samples, resident }) {
  const holder = new Participant(work, HOLDER_OF[name] ?? name, directory, options);
  try {
    await Promise.all([holder.ready, waiter.ready]);
    await (
      await holder.acquire()
    ).held;
    const { held } = await waiter.acquire();
    await letWait();
    resident.push(residentBytes(holder.pid));
    const killed = now();
    holder.kill();
    const [, taken] = await held;
    samples.push(taken - killed);
    await waiter.release();
  } finally {
    await holder.end();
  }
}
