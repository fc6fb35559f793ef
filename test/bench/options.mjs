import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';

import { PARTS } from './parts/index.mjs';

export const USAGE = `npm run bench -- [options]
  --only PART,…      measure only these: ${PARTS.join(', ')}
  --quick            a smoke test: every figure, none of them sound
  --json FILE        write the results
  --svg DIRECTORY    write the plots
  --from FILE        measure nothing: take the results of an earlier --json
  --publish          measure everything; results, plots and figures go into docs/ and README.md
  --disk DIRECTORY   where the locks lie (default: the directory for temporary files)
  --memory DIRECTORY a tmpfs, for the uncontended cost there (default: /dev/shm)`;

/** Throws an Error that says what is wrong with the arguments. */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      svg: { type: 'string' },
      from: { type: 'string' },
      publish: { type: 'boolean', default: false },
      disk: { type: 'string', default: tmpdir() },
      memory: { type: 'string', default: '/dev/shm' },
    },
  });
  const parts = values.only?.split(',') ?? PARTS;
  const unknown = parts.find((part) => !PARTS.includes(part));
  if (values.publish && (values.quick || values.only !== undefined)) {
    throw new Error('--publish takes a whole run');
  }
  if (unknown !== undefined) throw new Error(`there is no part ${unknown}`);
  return { ...values, parts };
}
