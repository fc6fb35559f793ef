import { expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { ageLockfile, leaveDeadRecord, writeLockfile, writeRecord } from '../helpers/records.js';
import type { RecordFields } from '../helpers/records.js';
import { rounds } from '../helpers/rounds.js';
import { useTempDir } from '../helpers/temp-dir.js';

const FEWEST = 4;
const MOST = 16;

const driver = useDriver();
const temp = useTempDir();

const kinds: Record<string, (bucket: string, dead: RecordFields) => void> = {
  'a full record': (bucket, dead) => {
    writeRecord(bucket, dead);
  },
  'a PID-only record': (bucket, dead) => {
    writeLockfile(bucket, `${dead.pid}\n`);
  },
  'a guarded PID-only record': (bucket, dead) => {
    writeLockfile(bucket, `${dead.pid} \n`);
  },
  'an old torn record': (bucket) => {
    writeLockfile(bucket, '12');
    ageLockfile(bucket, 60_000);
  },
};

test.for(Object.entries(kinds))(
  'of many on one barrier exactly one inherits %s',
  async ([, leave]) => {
    const pool = await driver.pool(MOST);
    const dead = await leaveDeadRecord(driver, temp.directory());
    for (let round = 0; round < rounds(1000); round += 1) {
      const bucket = temp.directory();
      leave(bucket, dead);
      const size = FEWEST + (round % (MOST - FEWEST + 1));
      const contenders = pool.slice(0, size);
      const command = round % 2 === 0 ? 'tryAcquire' : 'tryAcquireSync';
      const answers = await driver.barrier(contenders, command, { bucket });
      const winners = answers.flatMap((hold, index) => (hold === null ? [] : [{ hold, index }]));
      expect(winners, `round ${round}, ${size} processes`).toHaveLength(1);
      for (const { hold, index } of winners) {
        expect(await contenders[index]?.call('release', { hold: hold.hold })).toBe(true);
      }
    }
  },
);
