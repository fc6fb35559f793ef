import type { LockEvidence, LockReport } from './lock.js';
import type { NativeReport } from './native.js';
import { quoted } from './quoted.js';

/** The addon's report in the public vocabulary: absent fields stay absent, `since` is a date. */
export function toLockReport(native: NativeReport): LockReport {
  const { sinceMs, ...report } = native;
  if (sinceMs === undefined) return report;
  const since = new Date(sinceMs);
  // The record is another program's text: a number may be no date that JavaScript can hold.
  return Number.isNaN(since.getTime()) ? report : { ...report, since };
}

/** Who holds it, why, since when, and on what evidence: a clause to put after "is". */
export function describeHolder(report: LockReport): string {
  if (report.state === 'free') return 'free';
  const verb = report.state === 'stale' ? 'left behind by' : 'held by';
  const host = report.host === undefined ? '' : ` on host ${quoted(report.host)}`;
  const label = report.label === undefined ? '' : ` for ${quoted(report.label)}`;
  const since = report.since === undefined ? '' : ` since ${report.since.toISOString()}`;
  return `${verb} ${describeProcess(report)}${host}${label}${since}${describeEvidence(report)}`;
}

/** What a person can do about a lock that is held on this evidence; empty: nothing but wait. */
export function waysOut(report: LockReport): string {
  const { evidence, token } = report;
  if (report.state !== 'held') return '';
  if (evidence === 'unknown' && token === undefined) {
    return 'Make sure that this user may read its .lock: the mode option of its holder sets the permissions.';
  }
  if (evidence !== 'foreign' && evidence !== 'process-alive' && evidence !== 'unknown') return '';
  const breaking =
    'If that holder is known to be gone, breakLock(bucket, { token: report.token }) removes its record';
  return evidence === 'foreign'
    ? `${breaking}; trustKernelLocks: true is for directories that every holder reaches through the same kernel and the same mount.`
    : `${breaking}.`;
}

function describeProcess({ pid, process, thisProcess }: LockReport): string {
  if (pid === undefined) return thisProcess === true ? 'this process' : 'an unknown process';
  if (thisProcess === true) return `this process (PID ${pid})`;
  if (process === 'gone') return `process ${pid}, which is gone,`;
  if (process === 'reused') return `process ${pid}, whose PID another process has now,`;
  return `process ${pid}`;
}

function describeEvidence({ evidence, fileSystem }: LockReport): string {
  if (evidence === undefined) return '';
  const seen = evidence === 'foreign' && fileSystem !== undefined;
  return `: ${EVIDENCE[evidence]}${seen ? ` (seen here: ${quoted(fileSystem)})` : ''}`;
}

const EVIDENCE: Record<LockEvidence, string> = {
  guard: 'the kernel lock on its lockfile is held',
  'guard-free': 'the kernel lock on its lockfile is free',
  'process-alive': 'its record is a PID only, and that process is alive',
  'process-gone': 'its record is a PID only, and that process is gone',
  unstamped: 'its record is incomplete and may still be being written',
  foreign: 'a free kernel lock proves nothing on the file systems involved',
  unknown: 'whether it is alive cannot be told from here',
  lease: 'its lease has not run out',
  session: 'its database session is open',
  'in-process': 'it is a thread of this process',
  'kernel-lock': 'the kernel lock on the file is held',
};
