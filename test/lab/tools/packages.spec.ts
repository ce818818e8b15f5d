import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { node, packLib, packWorkspace } from '../package/run.js';

const MODULES = 'test/lab/tools/node_modules';

/** What CommonJS can require since Node 20.19, and older ones are not supported. */
const ES_MODULES_ALONE = ['CJSResolvesToESM'];

describe.each([
  ['for hosts', packLib, []],
  ['of the client', (directory: string) => packWorkspace('@time-logs/client', directory), []],
  [
    'of the embedded PostgreSQL',
    (directory: string) => packWorkspace('@time-logs/embedded-postgres', directory),
    ES_MODULES_ALONE,
  ],
])('the package %s', (_name, pack, known) => {
  let directory: string;
  let tarball: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'time-logs-tarball-'));
    tarball = await pack(directory);
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('is clean for publint', async () => {
    const output = await node(`${MODULES}/publint/src/cli.js`, ['run', '--strict', tarball]);
    expect(output).toContain('All good!');
  });

  it('has right types for every kind of module resolution', async () => {
    const args = ['--ignore-rules', 'cjs-resolves-to-esm', '--no-definitely-typed', '--format', 'json'];
    const output = await node(`${MODULES}/@arethetypeswrong/cli/dist/index.js`, [tarball, ...args]);
    const { problems } = JSON.parse(output) as { problems: Record<string, unknown> };
    expect(Object.keys(problems)).toEqual(known);
  });
});
