/** True for the long run: every round that a claim speaks of. */
export const isStress = process.env['STRESS'] === '1';

/** How often to repeat: `all` rounds in the long run, a hundred at most otherwise. */
export function rounds(all: number): number {
  return isStress ? all : Math.min(all, 100);
}
