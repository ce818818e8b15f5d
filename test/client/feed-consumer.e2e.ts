import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { environment } from '../support/environment.js';
import { create, dataOf, LOG } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

/** `describe` where there is Python, which the consumer is written in. */
function describeWithPython(): typeof describe | typeof describe.skip {
  if (spawnSync('python3', ['--version']).status === 0) return describe;
  process.stderr.write('skipped: a consumer of the feed in Python; python3 is not installed\n');
  return describe.skip;
}

describeWithPython()(
  'a consumer in another language, made from the README and its standard library alone',
  () => {
    const app = useTestApp();
    let folder: string;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'feed-consumer-'));
    });
    afterAll(() => rm(folder, { recursive: true }));

    /** What it prints until it has seen so many logs. */
    const consume = async (count: number): Promise<unknown[]> => {
      const { stdout } = await promisify(execFile)(
        'python3',
        [join(import.meta.dirname, 'feed-consumer.py'), join(folder, 'last'), String(count)],
        { env: environment({ TIME_LOGS_URL: app.url, TIME_LOGS_TOKEN: app.token }) },
      );
      return stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
    };
    const record = async (count: number): Promise<unknown[]> => {
      const logs: unknown[] = [];
      while (logs.length < count) {
        logs.push(dataOf(await create(app, { ...LOG, description: `${logs.length} \u{1F600}` })));
      }
      return logs;
    };

    it('sees every log once, while they are recorded, and goes on where it has ended', async () => {
      const [first, seen] = await Promise.all([record(12), consume(8)]);
      expect(seen).toEqual(first.slice(0, 8));
      const [later, rest] = await Promise.all([record(3), consume(7)]);
      expect(rest).toEqual([...first.slice(8), ...later]);
    });
  },
);
