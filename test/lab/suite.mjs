import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/*
 * `npm run suite -- NAME [ARGUMENT]…` and `npm run bench -- [NAME] [ARGUMENT]…` run what `npm test` leaves out.
 * README.md in this folder describes each. Files among the arguments replace those of the suite; options go to Jest.
 */

const PROJECT = join(import.meta.dirname, '..', '..');
const { EXTENT = 'full', WORKERS = '1', TEST_POSTGRES = '/usr/lib/postgresql/15/bin' } = process.env;

/** Runs of Jest: options, files and variables. A suite is skipped if the path that it `needs` does not exist. */
const SUITES = {
  brokers: { files: ['test/lab/brokers'] },
  browser: { files: ['test/lab/browser'] },
  containers: { options: ['--runInBand'], files: ['test/lab/containers'] },
  database: {
    needs: TEST_POSTGRES,
    environment: { TEST_POSTGRES },
    files: ['test/contract', 'test/upgrade', 'test/process/least-privilege'],
  },
  estate: { environment: { EXTENT }, files: ['test/lab/estate'] },
  faults: { environment: { EXTENT }, options: [`--maxWorkers=${WORKERS}`], files: ['test/lab/faults'] },
  fleet: { options: ['--runInBand'], files: ['test/lab/fleet'] },
  package: { files: ['test/lab/package'] },
  properties: {
    environment: { EXTENT },
    options: [`--maxWorkers=${WORKERS}`],
    files: ['test/lab/properties', 'test/contract/.*[.]property', 'test/process/backup-file'],
  },
  soak: { options: ['--testMatch', '**/test/lab/soak/soak.load.ts', '--runInBand'], files: [] },
  tools: { config: 'test/lab/tools/jest.config.mjs', files: [] },
};
/** Programs: folder in `test/lab`, and file. */
const PROGRAMS = {
  corpora: ['corpora', 'corpora'],
};
/** The suites of `all`: those with a verdict, except the containers. */
const NIGHTLY = 'tools package brokers browser estate database fleet properties faults'.split(' ');

const [name, ...args] = process.argv.slice(2);
if (name === 'all') runAll();
else if (name in SUITES) runSuite(SUITES[name], args);
else if (name in PROGRAMS) runProgram(...PROGRAMS[name], args);
else if (name === 'bench' && args[0] === 'attributes') runProgram('bench', 'attributes', args.slice(1));
else if (name === 'bench') runProgram('bench', 'bench', args);
else {
  const names = ['all', ...Object.keys(SUITES), ...Object.keys(PROGRAMS)].sort();
  console.error(`Usage: npm run suite -- NAME [ARGUMENT]...\n\nNAME is one of ${names.join(', ')}`);
  process.exit(1);
}

/** Runs every suite, also after one has failed, and lists those that failed. */
function runAll() {
  const environment = { EXTENT: 'nightly', WORKERS: '4' };
  const failed = NIGHTLY.filter((suite) => {
    console.log(`\n== ${suite}`);
    return !succeeds('npm', ['run', '--silent', 'suite', '--', suite], environment);
  });
  console.log(failed.length === 0 ? '\nall suites passed' : `\nfailed: ${failed.join(', ')}`);
  if (failed.length > 0) process.exit(1);
}

function runSuite({ config = 'test/lab/jest.config.mjs', environment, options = [], files, needs }, args) {
  if (needs && !existsSync(needs)) {
    console.error(`skipped: ${name}; there is no ${needs}`);
    return;
  }
  const isFile = (argument) => !argument.startsWith('-') && argument.includes('/');
  if (name === 'tools' || name === 'browser') run(process.execPath, ['test/lab/tools/install.mjs']);
  const jest = ['--config', config, ...options, ...(args.some(isFile) ? [] : files), ...args];
  run('npm', ['--silent', 'test', '--', ...jest], environment);
}

function runProgram(folder, file, args) {
  // One of the bench's baselines imports Fastify, which is installed there.
  if (folder === 'bench') run(process.execPath, ['test/lab/tools/install.mjs']);
  run(process.execPath, ['libs/build/run.mjs']);
  run('node_modules/.bin/tsc', ['-p', `test/lab/${folder}/tsconfig.build.json`]);
  run(process.execPath, [`dist/test/lab/${folder}/${file}.js`, ...args]);
}

/** Ends this process if a command fails. */
function run(command, args, environment = {}) {
  if (!succeeds(command, args, environment)) process.exit(1);
}

function succeeds(command, args, environment) {
  const env = { ...process.env, ...environment };
  return spawnSync(command, args, { cwd: PROJECT, env, stdio: 'inherit' }).status === 0;
}
