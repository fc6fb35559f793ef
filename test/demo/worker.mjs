// A worker: takes turns on the bucket until it is told to stop, or killed.
//   argv: <port> <worker> <directory>
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { BucketLock } from 'bucketlock';
import { filesIn } from './files.mjs';
import { now, takeTurn } from './turn.mjs';

const HALF_TURN_MS = { least: 2, most: 6 };
const REST_MS = { least: 2, most: 20 };
/** Far longer than any wait should be: to run into it fails the demonstration. */
const WAIT_MS = 30_000;

const [port, worker, directory] = process.argv.slice(2);
const files = filesIn(directory);
const stopping = new AbortController();

// Ctrl+C goes to every process of the terminal; the parent alone answers it.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {});

const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
// A worker never outlives its parent.
socket.on('close', () => process.exit(0));
socket.on('error', () => process.exit(1));
socket.on('data', () => stopping.abort());

function tell(message) {
  socket.write(`${JSON.stringify({ ...message, at: now() })}\n`);
}

function between({ least, most }) {
  return least + Math.random() * (most - least);
}

async function acquire(lock) {
  try {
    return await lock.acquire({ waitMs: WAIT_MS, signal: stopping.signal });
  } catch (error) {
    if (stopping.signal.aborted && error === stopping.signal.reason) return undefined;
    throw error;
  }
}

async function takeTurns() {
  const lock = new BucketLock(files.bucket, { label: `demo worker ${worker}` });
  tell({ worker: Number(worker), state: 'working' });
  while (!stopping.signal.aborted) {
    tell({ state: 'waiting' });
    const held = await acquire(lock);
    if (held === undefined) return;
    let isOurs;
    try {
      tell({ state: 'holding' });
      await takeTurn(files, worker, () => sleep(between(HALF_TURN_MS)));
      tell({ state: 'working' });
    } finally {
      isOurs = await held.release();
    }
    if (!isOurs) throw new Error('the lock was lost while it was held');
    await sleep(between(REST_MS));
  }
}

await takeTurns();
socket.end();
