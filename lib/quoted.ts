/**
 * JSON that is safe for a terminal and a log line, whatever program the text in it came from: JSON
 * itself escapes the low control characters, this the high ones and what reorders or breaks lines.
 * Infinity, which JSON has not, is shown as a string.
 */
export function quoted(value: unknown): string {
  return JSON.stringify(value, showInfinity).replace(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function showInfinity(_name: string, value: unknown): unknown {
  return value === Infinity ? 'Infinity' : value;
}
