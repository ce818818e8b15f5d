import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { timesOf } from '../../support/extent.js';
import { firstColumn } from '../../support/postgres-cluster.js';
import { endProcess, spawnService } from '../../support/service-process.js';
import { eventually } from '../eventually.js';
import { ask } from './support/ask.js';
import { serve } from './support/serve.js';
import { TOKEN } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

const ROUNDS = timesOf(10, 1);

describe('a service that starts', () => {
  const postgres = useCluster();

  it('migrates an empty database once where two start at the same time', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const url = await postgres.createDatabase();
      // Names of all migrations are told at debug.
      const both = await Promise.all([1, 2].map(() => serve(url, { LOG_LEVEL: 'debug' })));
      for (const service of both)
        expect(await ask(`${service.url}/health`)).toMatchObject({ status: 200, text: 'OK' });
      const names = await firstColumn(url, 'select name from migrations order by name');
      expect(new Set(names).size).toBe(names.length);
      expect(names.length).toBeGreaterThan(0);
      // Each was run by one of the two.
      const told = both.flatMap(({ output }) => /migrated: ([\w, ]+)/.exec(output())?.[1]?.split(', ') ?? []);
      expect(told.sort()).toEqual(names);
      expect(await Promise.all(both.map((service) => service.end('SIGTERM')))).toEqual([0, 0]);
    }
  });

  it('waits for a database that is away, and serves when it comes', async () => {
    const url = await postgres.createDatabase();
    await postgres.end('SIGINT');
    const starting = serve(url);
    await postgres.start();
    const service = await starting;
    expect(await ask(`${service.url}/health`)).toMatchObject({ status: 200, text: 'OK' });
  });

  it('gives a database that stays away a bounded number of tries, says so in one clear line, and exits with 1', async () => {
    const url = await postgres.createDatabase();
    await postgres.end('SIGINT');
    const { child, output } = spawnService({ DATABASE_URL: url, ACCESS_TOKEN: TOKEN });
    try {
      await eventually(() => expect(output()).toContain('waiting for the database'));
      expect(await once(child, 'exit')).toEqual([1, null]);
      const lines = output().trim().split('\n');
      expect(lines.filter((line) => line.includes('waiting for the database'))).toHaveLength(1);
      expect(
        lines.filter((line) => /^the database at .* could not be reached: .*check DATABASE_URL/.test(line)),
      ).toEqual([lines.at(-1)]);
      expect(output()).not.toMatch(/^\s+at /m);
    } finally {
      await endProcess(child, 'SIGKILL');
      await postgres.start();
    }
  });
});
