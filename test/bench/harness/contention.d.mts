export interface Contention {
  readonly served: readonly number[];
  readonly perSecond: number;
  readonly longestWait: number;
  readonly handover:
    | {
        readonly count: number;
        readonly median: number;
        readonly p99: number;
        readonly min: number;
        readonly max: number;
      }
    | undefined;
}

export function contention(
  processes: readonly Float64Array[],
  start: number,
  end: number,
): Contention;
