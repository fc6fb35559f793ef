/** The output could not be written: a full device, or a reader that is gone. */
export class OutputError extends Error {}

const ignore = (): void => undefined;

/** Prints what was asked for. @throws OutputError */
export async function print(text: string): Promise<void> {
  // Also emitted where the callback gets it, and then fatal if nobody listens.
  process.stdout.on('error', ignore);
  try {
    await new Promise<void>((resolve, reject) => {
      process.stdout.write(text, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  } catch (error) {
    throw new OutputError(
      `cannot write the output: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

/** Says something on stderr, in a line of its own, if it can be said. */
export function say(text: string): void {
  try {
    if (!process.stderr.listeners('error').includes(ignore)) process.stderr.on('error', ignore);
    process.stderr.write(`bucketlock: ${text}\n`);
  } catch {
    // Nobody can be told, and a command that runs under the lock must not lose it for that.
  }
}
