import { symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, beforeEach, expect, test } from 'vitest';

import { LineParticipant, buildLineParticipant } from '../helpers/line-participant.js';
import { mustBlock } from '../helpers/must-block.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { hasTool, requireTool } from '../helpers/tools.js';
import type { Tool } from '../helpers/tools.js';
import { useWine } from '../helpers/wine.js';

// The line of processes by itself, without the wait queue above it, under Wine. Wine has no asynchronous file locks:
// what is seen here of waiting for a guard is the way without them.
const tools: readonly Tool[] = ['wine', 'mingw'];

const temp = useTempDir();
const wine = useWine(
  () => temp.path,
  () => tools.every(hasTool),
);

const executable = (): string => join(temp.path, 'line-participant.exe');

beforeAll(() => {
  if (tools.every(hasTool)) buildLineParticipant(executable());
});

beforeEach((context) => {
  for (const tool of tools) requireTool(context, tool);
});

function start(): LineParticipant {
  return new LineParticipant(wine, executable());
}

/** A process that has a place in the line for the directory, and does not stand in it yet. */
async function starter(directory: string): Promise<LineParticipant> {
  const participant = start();
  expect(await participant.call('stand', directory)).toBe('done');
  return participant;
}

async function head(directory: string): Promise<LineParticipant> {
  const participant = await starter(directory);
  expect(await participant.call('enter')).toBe('head');
  return participant;
}

async function holder(
  directory: string,
  hold: 'hold' | 'hold-guard-alone' = 'hold',
): Promise<LineParticipant> {
  const participant = start();
  expect(await participant.call(hold, directory)).toBe('done');
  return participant;
}

test('somebody is in line from the first who enters until the last one leaves', async () => {
  const directory = temp.directory();
  const asker = start();
  expect(await asker.call('in-line', directory)).toBe('nobody');
  const first = await starter(directory);
  expect(await asker.call('in-line', directory)).toBe('nobody');
  expect(await first.call('enter')).toBe('head');
  expect(await asker.call('in-line', directory)).toBe('somebody');
  // Seen from another thread of its own process, too.
  expect(await first.call('in-line', directory)).toBe('somebody');
  const second = await starter(directory);
  const ends = await mustBlock('enter', second.begin('enter'));
  expect(await first.call('leave')).toBe('done');
  expect(await ends()).toBe('head');
  expect(await asker.call('in-line', directory)).toBe('somebody');
  expect(await second.call('leave')).toBe('done');
  expect(await asker.call('in-line', directory)).toBe('nobody');
  expect(await first.call('enter')).toBe('head');
});

test('each in line becomes the head, alone, after one that left or died', async () => {
  const directory = temp.directory();
  const first = await head(directory);
  const waiters = await Promise.all([1, 2, 3].map(() => starter(directory)));
  const waits = new Map(
    waiters.map((waiter) => [waiter, waiter.begin('enter').then((answer) => ({ waiter, answer }))]),
  );
  const last: LineParticipant[] = [first];
  while (waits.size > 0) {
    const ends = await mustBlock('enter', Promise.race(waits.values()));
    const before = last.pop();
    await (waits.size === 2 ? before?.terminate() : before?.call('leave'));
    const { waiter, answer } = await ends();
    expect(answer).toBe('head');
    waits.delete(waiter);
    last.push(waiter);
  }
});

test('one that dies in line is passed over', async () => {
  const directory = temp.directory();
  const first = await head(directory);
  const doomed = await starter(directory);
  await mustBlock('enter', doomed.begin('enter'));
  const next = await starter(directory);
  const ends = await mustBlock('enter', next.begin('enter'));
  await doomed.terminate();
  expect(await first.call('leave')).toBe('done');
  expect(await ends()).toBe('head');
});

test('one that is abandoned in line stands in it no more, and can enter again', async () => {
  const directory = temp.directory();
  const first = await head(directory);
  const fickle = await starter(directory);
  const given = await mustBlock('enter', fickle.begin('enter'));
  const patient = await starter(directory);
  const ends = await mustBlock('enter', patient.begin('enter'));
  expect(await fickle.call('abandon')).toBe('done');
  expect(await given()).toBe('abandoned');
  expect(await first.call('leave')).toBe('done');
  expect(await ends()).toBe('head');
  const again = await mustBlock('enter', fickle.begin('enter'));
  expect(await patient.call('leave')).toBe('done');
  expect(await again()).toBe('head');
});

test('a head that is abandoned while it awaits the guard makes room at once', async () => {
  const directory = temp.directory();
  await holder(directory);
  const first = await head(directory);
  const awaited = await mustBlock('await', first.begin('await', directory));
  const next = await starter(directory);
  const ends = await mustBlock('enter', next.begin('enter'));
  expect(await first.call('abandon')).toBe('done');
  expect(await awaited()).toBe('left');
  expect(await ends()).toBe('head');
  // What ended one wait does not end another.
  await mustBlock('enter', first.begin('enter'));
});

test('an abandonment between two waits ends the next one, and only that', async () => {
  const directory = temp.directory();
  await holder(directory);
  const first = await head(directory);
  expect(await first.call('abandon')).toBe('done');
  expect(await first.call('enter')).toBe('head');
  expect(await first.call('await', directory)).toBe('left');
  expect(await first.call('enter')).toBe('head');
  await mustBlock('await', first.begin('await', directory));
});

test.for(['hold', 'hold-guard-alone'] as const)(
  'the head awaits who took the lock by %s, until an unlock or a death',
  async (hold) => {
    for (const end of ['unlock', 'die'] as const) {
      const directory = temp.directory();
      const held = await holder(directory, hold);
      const first = await head(directory);
      const ends = await mustBlock('await', first.begin('await', directory));
      if (end === 'die') await held.terminate();
      else expect(await held.call('unlock')).toBe('done');
      expect(await ends()).toBe('head');
      // What was awaited was only looked at.
      expect(await first.call('await', directory)).toBe('head');
    }
  },
);

test('only who lets others await locks the byte that wakes them, until it unlocks', async () => {
  const directory = temp.directory();
  const looker = start();
  const held = await holder(directory);
  expect(await looker.call('is-awaited', directory)).toBe('yes');
  expect(await held.call('unlock')).toBe('done');
  expect(await looker.call('is-awaited', directory)).toBe('no');

  const silent = temp.directory();
  await holder(silent, 'hold-guard-alone');
  expect(await looker.call('is-awaited', silent)).toBe('no');
});

test('each directory has one line, under whatever name', async () => {
  const directory = temp.directory();
  const alias = join(temp.directory('names'), 'alias');
  symlinkSync(directory, alias);
  await head(directory);
  const asker = start();
  expect(await asker.call('in-line', alias)).toBe('somebody');
  await head(temp.directory());
  const second = await starter(alias);
  await mustBlock('enter', second.begin('enter'));
});
