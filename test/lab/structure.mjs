import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { register } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout } from 'node:timers/promises';

/*
 * Describes the structure in numbers: lines of the core, the packages and their tests; files; symbols and public
 * names; and the files and functions that one create and one list pass.
 */

const PARTS = {
  core: [
    ['time logs: domain, application, HTTP', /^src\/time-log\/(?!infrastructure)/],
    ['time logs: SQL, counts, migrations', /^src\/time-log\/infrastructure/],
    ['totals, feed and export', /^src\/(totals|feed|export)\//],
    ['database', /^src\/database\//],
    ['process, commands, composition', /^(libs\/build\/|src\/(process|commands)\/|src\/[^/]+$)/],
    [
      'tokens, health, metrics, documentation',
      /^src\/(?!time-log|totals|feed|export|database|process|commands)[^/]+\//,
    ],
    ['building blocks', /^libs\/(auth|batching|errors|http-edge|measures|open-api|strict-(request|url))\//],
  ],
  packages: [
    ['client', /^libs\/time-log-client\//],
    ['messages', /^libs\/messages\//],
    ['event relay', /^libs\/event-relay\//],
    ['embedded PostgreSQL, backup', /^libs\/(embedded-postgres|backup)\//],
    ['JWTs', /^libs\/jwt\//],
    ['host kit', /^libs\/host-kit\//],
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

const sizes = files.map((file) => [linesOf(file), file]).sort(([a], [b]) => a - b);
const symbols = files.flatMap((file) => readFileSync(file, 'utf8').match(/\bSymbol(\.for)?\(/g) ?? []);
const surface = readFileSync('test/lab/package/public-surface.txt', 'utf8').trim().split('\n');
console.log(`
${files.length} files of TypeScript; median ${sizes[files.length >> 1][0]} lines, longest ${sizes.at(-1).join(' lines: ')}
${symbols.length} symbols; ${surface.length} lines of public names`);

console.log('\n| one request | files | functions | calls | changes of folder |\n|---|---|---|---|---|');
for (const [name, entered] of Object.entries(await traceRequests())) {
  const distinct = (key) => new Set(entered.map(key)).size;
  const changes = entered.filter(({ folder }, index) => index > 0 && folder !== entered[index - 1].folder);
  const functions = distinct(({ file, position }) => `${file} ${position}`);
  console.log(
    `| ${name} | ${distinct(({ file }) => file)} | ${functions} | ${entered.length} | ${changes.length} |`,
  );
}
process.exit(0);

/** The functions that a create and a list enter, in order. The service is warm: caches are filled, SQL is prepared. */
async function traceRequests() {
  execFileSync(process.execPath, ['libs/build/run.mjs'], { stdio: 'inherit' });
  register('./traced.hooks.mjs', import.meta.url);
  const { loadConfig } = await import('../../dist/src/process/config.js');
  const { serve } = await import('../../dist/src/process/serve.js');
  const ACCESS_TOKEN = 'structure'.repeat(4);
  const dataDir = mkdtempSync(join(tmpdir(), 'time-logs-structure-'));
  const env = { HOST: '127.0.0.1', PORT: '0', ACCESS_TOKEN, DATA_DIR: dataDir, NODE_ENV: 'production' };
  const stop = new AbortController();
  const output = new PassThrough();
  const served = serve({
    config: loadConfig(env, false),
    startupMessages: [],
    log: output,
    print: () => undefined,
    stop,
  });
  const port = async () => {
    for await (const chunk of output) {
      const found = /listening on port ([0-9]+)/.exec(String(chunk));
      if (found) return found[1];
    }
  };
  const url = `http://127.0.0.1:${await Promise.race([port(), served])}/api/v1/time-logs`;
  const headers = { authorization: `Bearer ${ACCESS_TOKEN}`, 'content-type': 'application/json' };
  const log = {
    projectId: '0a000000-0000-4000-8000-000000000001',
    duration: 1.5,
    description: 'Work',
    date: '2026-01-31',
  };
  const requests = {
    create: { method: 'POST', headers, body: JSON.stringify(log) },
    'list of 5 logs': { headers },
  };
  const traces = {};
  for (const [name, request] of Object.entries(requests)) {
    for (let round = 0; round < 5; round++) {
      // After what the last request has left to do, such as a fold.
      await setTimeout(1_500);
      const entered = [];
      globalThis.entered = (file, folder, position) => entered.push({ file, folder, position });
      const response = await fetch(url, request);
      if (!response.ok) throw new Error(await response.text());
      await response.text();
      await setTimeout(50);
      globalThis.entered = undefined;
      traces[name] = entered;
    }
  }
  stop.abort();
  await served.catch(() => undefined);
  rmSync(dataDir, { recursive: true });
  return traces;
}
