/** How many exit registries listen in this thread. One lingers for a moment after its last lock. */
export function exitListeners(): number {
  return process.listeners('exit').filter(({ name }) => name === '#onExit').length;
}
