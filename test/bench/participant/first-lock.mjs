// node first-lock.mjs <contender's module> <directory>: answers the nanoseconds of its import, and of
// import and first acquire. It imports nothing itself, so that whatever a contender needs is its own.
const [module, directory] = process.argv.slice(2);

const begun = process.hrtime.bigint();
const { open } = await import(module);
const imported = process.hrtime.bigint();
const lock = await open(directory);
const release = await lock.acquire();
const held = process.hrtime.bigint();

await release();
process.stdout.write(JSON.stringify([imported - begun, held - begun].map(Number)));
