import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const PROJECT = join(import.meta.dirname, '..', '..', '..');
const CRUISER = join(import.meta.dirname, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');

/** A forbidden import for each rule, planted in a tree of its own: a rule whose pattern matches nothing fails here. */
const PLANTED: [rule: string, file: string, imported: string][] = [
  ['no-cycles', 'src/alpha/alpha.service.ts', './index.js'],
  ['domain-sees-itself', 'src/alpha/domain/thing.ts', '../application/use-case.js'],
  ['domain-sees-itself', 'src/alpha/domain/entity.ts', 'typeorm'],
  ['application-sees-domain', 'src/alpha/application/query.ts', '../infrastructure/store.js'],
  ['application-sees-domain', 'src/alpha/application/checked.ts', 'class-validator'],
  ['api-not-infrastructure', 'src/alpha/api/shortcut.ts', '../infrastructure/store.js'],
  ['api-not-infrastructure', 'src/alpha/api/sql.ts', 'typeorm'],
  ['infrastructure-not-api', 'src/alpha/infrastructure/reply.ts', '../api/web.controller.js'],
  ['modules-through-their-index', 'src/alpha/peeping.ts', '../beta/beta.service.js'],
  [
    'read-models-see-layers-of-time-logs',
    'src/totals/totals.providers.ts',
    '../time-log/time-log.providers.js',
  ],
  ['time-logs-without-read-models', 'src/time-log/domain/time-log.ts', '../../totals/domain/sum.js'],
  ['time-logs-compose-read-models', 'src/time-log/time-log.providers.ts', '../totals/domain/sum.js'],
  ['root-through-index', 'src/main.ts', './beta/beta.service.js'],
  ['modules-not-root', 'src/alpha/command-caller.ts', '../commands/act.command.js'],
  ['libs-through-their-index', 'src/alpha/lib-peeping.ts', '../../libs/gamma/src/inside.js'],
  ['settings-load-nothing', 'src/process/database-url.ts', '../../libs/gamma/src/index.js'],
  ['libs-know-no-time-logs', 'libs/gamma/src/upward.ts', '../../../src/beta/index.js'],
  ['optional-libs-know-no-time-logs', 'libs/jwt/src/upward.ts', '../../../src/beta/index.js'],
  ['modules-through-their-index', 'src/backup/peeping.ts', '../beta/beta.service.js'],
  ['core-without-additions', 'src/alpha/eager.ts', '../backup/index.js'],
  ['modules-without-optional-libs', 'src/alpha/optional.ts', '../../libs/jwt/src/index.js'],
  ['messages-alone-see-transports', 'src/messages/hasty.ts', '@nestjs/microservices'],
  ['client-runs-anywhere', 'libs/time-log-client/src/random.ts', 'node:crypto'],
  ['sinks-alone-see-brokers', 'src/alpha/broker.ts', 'amqplib'],
  ['sinks-on-demand', 'src/event-relay/hasty.ts', './sinks/pipe.sink.js'],
  ['declared-dependencies', 'src/alpha/tested.ts', 'fast-check'],
  ['tests-not-laboratory', 'test/e2e/eager.e2e.ts', '../lab/bench/measure.js'],
];

const GROUND: Record<string, string> = {
  'src/process/config.ts': 'export const config = 1;',
  'src/commands/act.command.ts': 'export const act = 1;',
  'src/alpha/index.ts': "import './alpha.service.js';",
  'src/alpha/application/use-case.ts': 'export const useCase = 1;',
  'src/alpha/infrastructure/store.ts': 'export const store = 1;',
  'src/alpha/api/web.controller.ts': 'export const web = 1;',
  'src/database/index.ts': 'export const database = 1;',
  'src/backup/index.ts': 'export const backup = 1;',
  'src/event-relay/sinks/pipe.sink.ts': 'export const pipe = 1;',
  'libs/jwt/src/index.ts': 'export const jwt = 1;',
  'src/time-log/application/access.ts': 'export const access = 1;',
  'src/time-log/infrastructure/rows.ts': 'export const rows = 1;',
  'src/totals/domain/sum.ts': 'export const sum = 1;',
  'src/totals/index.ts': "export { sum } from './domain/sum.js';",
  'src/beta/index.ts': "export { beta } from './beta.service.js';",
  'src/beta/beta.service.ts': 'export const beta = 1;',
  'libs/gamma/src/index.ts': 'export const gamma = 1;',
  'libs/gamma/src/inside.ts': 'export const inside = 1;',
  'test/lab/bench/measure.ts': 'export const measure = 1;',
};

describe('the architecture rules', () => {
  let tree: string;
  let violations: { rule: { name: string }; from: string }[];

  beforeAll(async () => {
    tree = await mkdtemp(join(tmpdir(), 'time-logs-architecture-'));
    const planted = PLANTED.map(([, file, imported]): [string, string] => [file, `import '${imported}';`]);
    for (const [file, text] of [...Object.entries(GROUND), ...planted]) {
      await mkdir(dirname(join(tree, file)), { recursive: true });
      await writeFile(join(tree, file), text);
    }
    for (const name of ['node_modules', 'package.json', 'tsconfig.json', '.dependency-cruiser.cjs']) {
      await symlink(join(PROJECT, name), join(tree, name));
    }
    const output = await cruise(tree);
    violations = (JSON.parse(output) as { summary: { violations: typeof violations } }).summary.violations;
  });
  afterAll(() => rm(tree, { recursive: true, force: true }));

  it.each(PLANTED)('%s is reported for %s importing %s', (rule, file) => {
    expect(violations).toContainEqual(
      expect.objectContaining({ rule: { name: rule, severity: 'error' }, from: file }),
    );
  });

  it('reports nothing else', () => {
    const files = new Set(PLANTED.map(([, file]) => file));
    expect(violations.filter(({ from }) => !files.has(from))).toEqual([]);
  });
});

function cruise(directory: string): Promise<string> {
  return new Promise((resolve) => {
    const args = [CRUISER, 'src', 'libs', 'test', '--output-type', 'json'];
    // Exits with the number of violations.
    execFile(process.execPath, args, { cwd: directory, maxBuffer: 2 ** 24 }, (_error, stdout) =>
      resolve(stdout),
    );
  });
}
