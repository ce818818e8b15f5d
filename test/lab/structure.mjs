import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/* Prints the lines of the core, of the packages and of their tests. */

const PARTS = {
  core: [
    ['time logs: domain, application, HTTP', /^src\/time-log\/(?!infrastructure)/],
    ['time logs: SQL, counts, migrations', /^src\/time-log\/infrastructure/],
    ['totals, feed and export', /^src\/(totals|feed|export)\//],
    ['database', /^src\/database\//],
    ['process, commands, composition', /^(libs\/build\/|src\/(process|commands)\/|src\/[^/]+$)/],
    ['tokens, health, metrics, documentation', /^src\/(access-token|api-docs|health|metrics)\//],
    [
      'building blocks',
      /^libs\/(auth|batching|errors|http-edge|measures|request-state|strict-(request|url))\//,
    ],
  ],
  packages: [
    ['client', /^libs\/time-log-client\//],
    ['messages', /^src\/messages\//],
    ['event relay', /^src\/event-relay\//],
    ['embedded PostgreSQL', /^libs\/embedded-postgres\//],
    ['backup', /^src\/backup\//],
    ['attributes', /^src\/attributes\//],
    ['JWTs', /^libs\/jwt\//],
    ['embedding', /^src\/embedding\//],
  ],
};
const parts = Object.entries(PARTS).flatMap(([kind, of]) => of.map((part) => [kind, ...part]));
const files = execFileSync('git', ['ls-files', 'src', 'libs'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(ts|mjs)$/.test(file) && !/\.spec\.ts$|fixture|\/openapi\.ts$/.test(file));
const linesOf = (file) => readFileSync(file, 'utf8').split('\n').length - 1;

console.log('| | part | lines, about |\n|---|---|---|');
for (const [kind, part, pattern] of parts) {
  const lines = files.filter((file) => pattern.test(file)).reduce((sum, file) => sum + linesOf(file), 0);
  console.log(`| ${kind} | ${part} | ${(Math.round(lines / 100) * 100).toLocaleString('en')} |`);
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
