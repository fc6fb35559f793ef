/** Reports an error that no caller is left to be told of. */
export function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
