// Counts a vitest JSON report, refuses skips that are not listed by name, and prints the one line that sums it up.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const [, , reportPath, allowedPath, statusSoFar] = process.argv;

const allowed = new Set(
  readFileSync(allowedPath, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#')),
);

const suites = existsSync(reportPath)
  ? JSON.parse(readFileSync(reportPath, 'utf8')).testResults
  : [];
let passed = 0;
let failed = 0;
const skipped = [];
for (const suite of suites) {
  const file = path.relative(process.cwd(), suite.name).split(path.sep).join('/');
  // A file that could not even be loaded has no test to carry its failure.
  if (
    suite.status === 'failed' &&
    !suite.assertionResults.some(({ status }) => status === 'failed')
  ) {
    failed += 1;
    console.log(`failed as a whole: ${file}\n${suite.message}`);
  }
  for (const { status, fullName } of suite.assertionResults) {
    if (status === 'passed') passed += 1;
    else if (status === 'failed') failed += 1;
    else skipped.push(`${file} > ${fullName}`);
  }
}

const refused = skipped.filter((name) => !allowed.has(name));
console.log('');
for (const name of skipped) {
  console.log(`skipped${allowed.has(name) ? '' : ', which is not allowed'}: ${name}`);
}
if (statusSoFar !== '0') console.log(`a step failed with exit code ${statusSoFar}`);
if (passed + failed === 0) console.log('no test ran');
console.log(`${passed} passed, ${failed} failed, ${skipped.length} skipped`);
process.exitCode = statusSoFar !== '0' || failed > 0 || refused.length > 0 || passed === 0 ? 1 : 0;
