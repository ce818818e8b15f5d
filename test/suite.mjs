import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/*
 * `npm run suite -- NAME [ARGUMENT]…` and `npm run bench -- [NAME] [ARGUMENT]…` run what `npm test` leaves out.
 * CONTRIBUTING.md tells what each is. Files among the arguments stand in the place of all that a suite has.
 */

const PROJECT = join(import.meta.dirname, '..');
const { FAULTS = 'full', FLEET = 'short', WORKERS = '1' } = process.env;

/** What Jest runs: its options, and the files. */
const SUITES = {
  database: { files: ['test/contract', 'test/upgrade', 'test/process/least-privilege'] },
  estate: {
    environment: { ESTATE: 'full' },
    files: ['test/(estate/|browser/|(messages|events)/(nats|rabbitmq|tcp-faults))'],
  },
  faults: {
    environment: { FAULTS },
    options: [`--maxWorkers=${WORKERS}`],
    files: [
      'test/faults',
      'test/contract/time-log-.*[.]property',
      'test/(e2e/(property|bad-input[.]fuzz)|process/backup-file)',
      'libs/embedded-postgres/src/.*faults',
    ],
  },
  containers: { environment: { CONTAINERS: 'full' }, options: ['--runInBand'], files: ['test/containers'] },
  fleet: { environment: { FLEET }, options: ['--runInBand'], files: ['test/fleet'] },
  // For so many MINUTES, or an hour.
  load: {
    environment: { FLEET: 'full' },
    options: ['--runInBand', '--testMatch', '**/test/fleet/*.load.ts', '--'],
    files: [],
  },
  package: { options: ['--config', 'test/package/jest.config.mjs'], files: [] },
  tools: { options: ['--config', 'test/tools/jest.config.mjs'], files: [] },
};
/** Programs: folder in `test`, and file. */
const PROGRAMS = {
  corpora: ['corpora', 'corpora'],
  snapshot: ['soak', 'old-snapshot'],
  soak: ['soak', 'soak'],
};
const BENCHES = {
  dtos: 'dto-price',
  feed: 'feed-price',
  figure: 'figure',
  hooks: 'hook-price',
  relay: 'relay',
};

const [name, ...args] = process.argv.slice(2);
if (name in SUITES) runSuite(SUITES[name], args);
else if (name in PROGRAMS) runProgram(...PROGRAMS[name], args);
else if (name === 'bench' && args[0] in BENCHES) runProgram('bench', BENCHES[args[0]], args.slice(1));
else if (name === 'bench') runProgram('bench', 'bench', args);
else {
  const names = [...Object.keys(SUITES), ...Object.keys(PROGRAMS)].sort();
  console.error(`Usage: npm run suite -- NAME [ARGUMENT]...\n\nNAME is one of ${names.join(', ')}`);
  process.exit(1);
}

function runSuite({ environment = {}, options = [], files }, args) {
  const isFile = (argument) => !argument.startsWith('-') && argument.includes('/');
  run(process.execPath, [name === 'tools' ? 'test/tools/install.mjs' : 'src/run.mjs']);
  const jest = [...options, ...(args.some(isFile) ? [] : files), ...args];
  run('npm', ['run', '--silent', 'jest', '--', ...jest], environment);
}

function runProgram(folder, file, args) {
  // One of its baselines imports Fastify, which is installed there.
  if (folder === 'bench') run(process.execPath, ['test/tools/install.mjs']);
  run(process.execPath, ['src/run.mjs']);
  run('node_modules/.bin/tsc', ['-p', `test/${folder}/tsconfig.build.json`]);
  run(process.execPath, [`dist/test/${folder}/${file}.js`, ...args]);
}

/** Ends this process where a command fails. */
function run(command, args, environment = {}) {
  const env = { ...process.env, ...environment };
  const { status } = spawnSync(command, args, { cwd: PROJECT, env, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
