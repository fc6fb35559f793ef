import { realpathSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { invalidType, invalidValue } from './argument-errors.js';
import { BucketValidationError } from './errors.js';

/** A bucket as every part of this package names it. */
export interface BucketPath {
  /** Absolute path of the bucket directory. */
  readonly directory: string;
  /** Its last component. */
  readonly bucketId: string;
}

/** Makes a bucket argument absolute, by the working directory of this moment. */
export function resolveBucket(bucket: unknown): BucketPath {
  if (typeof bucket !== 'string' && !(bucket instanceof URL)) {
    throw invalidType('bucket', 'a path or a file: URL', bucket);
  }
  // As a path it would be a relative one, and lock another directory than the one that is meant.
  if (typeof bucket === 'string' && /^file:\//i.test(bucket)) {
    throw invalidValue('bucket', 'a path, or a file: URL passed as new URL(...)', bucket);
  }
  const path = typeof bucket === 'string' ? bucket : fileURLToPath(bucket);
  if (path === '' || path.includes('\0'))
    throw new BucketValidationError(path, 'bucket_id_invalid');
  const directory = resolve(path);
  const bucketId = basename(directory);
  if (bucketId === '') throw new BucketValidationError(directory, 'bucket_id_invalid');
  return { directory, bucketId };
}

export function lockfileIn(directory: string): string {
  return join(directory, '.lock');
}

/** The one spelling of a directory that has many; as written where there is no such directory. */
export async function realDirectory(directory: string): Promise<string> {
  return realpath(directory).catch(() => directory);
}

export function realDirectorySync(directory: string): string {
  try {
    return realpathSync.native(directory);
  } catch {
    // Whatever is wrong with the path, taking or inspecting the lock says it better.
    return directory;
  }
}
