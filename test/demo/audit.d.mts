export interface Audit {
  readonly violations: readonly string[];
  readonly finished: number;
  readonly cut: number;
  readonly cutCounted: number;
  readonly handOvers: number;
  readonly recoveries: readonly number[];
}

export function audit(journal: string, counter: number, kills: ReadonlyMap<number, number>): Audit;
