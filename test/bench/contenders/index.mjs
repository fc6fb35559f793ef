/** In the order of the table's columns. Each is a module of this directory, but the C program. */
export const CONTENDERS = [
  'bucketlock',
  'c',
  'fs-native-extensions',
  'proper-lockfile',
  'lockfile',
  'cross-process-lock',
];

/** Of named locks, which exclude within one process: rows of their own. */
export const NAMED_LOCK = 'named-lock';

/** How tables and plots call a contender. */
export function titleOf(name) {
  return name === 'c' ? 'C program' : name;
}

const C_PROGRAM = {
  cannot: {
    async: 'the C program has no event loop',
    queue: 'the C program: one waiter to a process',
    abort: 'the C program has nothing to reject',
    import: 'the C program imports nothing',
  },
};

/** What there is to know of a contender: what it `cannot`, and how to `open` it. */
export async function contender(name) {
  return name === 'c' ? C_PROGRAM : await import(`./${name}.mjs`);
}

/** The contenders that can do what is to be measured, and the reasons of those that cannot. */
export async function split(ability, names = CONTENDERS) {
  const able = [];
  const reasons = {};
  for (const name of names) {
    const { cannot } = await contender(name);
    if (cannot[ability] === undefined) able.push(name);
    else reasons[name] = { cannot: cannot[ability] };
  }
  return { able, reasons };
}
