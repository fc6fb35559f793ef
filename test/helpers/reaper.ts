/**
 * Last resort against what a test leaves behind. Whatever must be undone is registered here and
 * undone in reverse order when the test process ends, however the tests went.
 */
const undoings = new Set<() => void>();

process.on('exit', () => {
  for (const undo of [...undoings].reverse()) undo();
});

/** Registers `undo`, which must be synchronous and must not throw. Answers how to forget it. */
export function onExit(undo: () => void): () => void {
  undoings.add(undo);
  return () => undoings.delete(undo);
}

/** Kills at once. False: there was no such process. */
export function killNow(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}
