import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/* Counts lines: of the product and the platform under it, as CONTRIBUTING.md lists them, and of their tests. */

const PARTS = {
  product: [
    [
      'time logs: domain, use cases, wire, HTTP, messages',
      /^src\/time-log\/(?!infrastructure|testing|contract)/,
    ],
    ['time logs: SQL, counts, feed, migrations', /^src\/time-log\/infrastructure/],
    [
      'client, package, adapter and contract for tests',
      /^(libs\/(time-log-client|host-package)|src\/time-log\/(testing|contract))\//,
    ],
  ],
  platform: [
    ['modules: tokens, events, backup, health, metrics, the page', /^src\/(?!time-log|database)[^/]+\//],
    ['composition, settings, the door to SQL', /^src\/(database|[^/]+$)/],
    [
      'libs that a host gets too',
      /^libs\/(auth|batching|errors|measures|messages|open-api|strict-request)\//,
    ],
    ['libs: edge of HTTP, JWTs, embedded PostgreSQL', /^libs\/(http-edge|jwt|embedded-postgres)\//],
  ],
};
const parts = Object.entries(PARTS).flatMap(([whose, of]) => of.map((part) => [whose, ...part]));
const files = execFileSync('git', ['ls-files', 'src', 'libs'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(ts|mjs)$/.test(file) && !/\.spec\.ts$|fixture|\/openapi\.ts$/.test(file));
const linesOf = (file) => readFileSync(file, 'utf8').split('\n').length - 1;

console.log('| | part | lines, about |\n|---|---|---|');
for (const [whose, part, pattern] of parts) {
  const lines = files.filter((file) => pattern.test(file)).reduce((sum, file) => sum + linesOf(file), 0);
  console.log(`| ${whose} | ${part} | ${(Math.round(lines / 100) * 100).toLocaleString('en')} |`);
}
const missed = files.filter((file) => !parts.some(([, , pattern]) => pattern.test(file)));
if (missed.length > 0) throw new Error(`in no part: ${missed.join(', ')}`);

const TESTS = [
  ['specs next to their source', /^(src|libs)\/.*(\.spec\.ts|fixture.*)$/],
  ['npm test: end to end, contracts, processes, hosts', /^test\/(?!lab\/)/],
  ['the laboratory', /^test\/lab\//],
];
const tests = execFileSync('git', ['ls-files', 'src', 'libs', 'test'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(ts|mjs)$/.test(file) && TESTS.some(([, pattern]) => pattern.test(file)));

console.log('\n| tests | files | lines |\n|---|---|---|');
for (const [part, pattern] of [...TESTS, ['all', /./]]) {
  const some = tests.filter((file) => pattern.test(file));
  console.log(`| ${part} | ${some.length} | ${some.reduce((sum, file) => sum + linesOf(file), 0)} |`);
}
