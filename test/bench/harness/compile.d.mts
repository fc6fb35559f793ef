export function compileProgram(directory: string, name: string): string;
export function loadAddon(directory: string, name: string): unknown;
