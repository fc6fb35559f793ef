import { abort } from './abort.mjs';
import { contended } from './contended.mjs';
import { crowd } from './crowd.mjs';
import { handover } from './handover.mjs';
import { importing } from './import.mjs';
import { queue } from './queue.mjs';
import { recovery } from './recovery.mjs';
import { uncontended } from './uncontended.mjs';
import { waiting } from './waiting.mjs';

const onDisk = (measure) => (works, sizes) => measure(works.disk, sizes);

const measures = {
  uncontended: async (works, sizes) => ({
    disk: await uncontended(works.disk, sizes),
    tmpfs: await uncontended(works.memory, sizes),
  }),
  handover: onDisk(handover),
  contended: onDisk(contended),
  waiting: onDisk(waiting),
  recovery: onDisk(recovery),
  queue: onDisk(queue),
  // How a disk takes ten thousand directories is another matter.
  crowd: (works, sizes) => crowd(works.memory, sizes),
  abort: onDisk(abort),
  import: onDisk(importing),
};

/** In the order of the table. */
export const PARTS = Object.keys(measures);

/** The results of one part; `works` are the directories on `disk` and in `memory`. */
export function measure(part, works, sizes) {
  return measures[part](works, sizes[part]);
}
