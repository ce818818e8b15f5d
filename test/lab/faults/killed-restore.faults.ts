import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { migrations } from '../../../src/app.module.js';
import { migrate } from '../../../src/database-setup/index.js';
import { addOddRows, addRows, everything, withSql } from '../../support/backup-rows.js';
import { oneOf, resultOf, useStruckServer, VICTIMS } from './support/strikes.js';

describe('a restore', () => {
  const server = useStruckServer();
  let directory: string;
  let file: string;
  let saved: Record<string, string[]>;

  const migrated = async () => {
    const url = await server.cluster.createDatabase();
    await migrate({ url, migrations });
    return url;
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'killed-restore-'));
    file = join(directory, 'file');
    const source = await migrated();
    await withSql(source, async (sql) => {
      await addOddRows(sql);
      // More than one message of rows.
      await addRows(sql, 10, 1_000, 'repeat(md5(n::text), 5)');
      await sql.query('delete from time_logs where duration between 100 and 110');
      await sql.query(
        `insert into access_tokens (id, name, digest, scopes, created_at)
         values (gen_random_uuid(), 'Ada', sha256('a'), '{time-logs:read}', now())`,
      );
      saved = await everything(sql);
    });
    await resultOf('backup', [file], source);
  });
  afterAll(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  it.each(VICTIMS)(
    'brings all or nothing where the %s is killed in any statement, and needs no more than to be run again',
    async (victim) => {
      const url = await migrated();
      /** Whether it has brought all; if not, it has brought nothing. */
      const isWhole = async () => {
        const rows = await withSql(url, everything);
        const isEmpty = Object.values(rows).every(({ length }) => length === 0);
        if (!isEmpty) expect(rows).toEqual(saved);
        return !isEmpty;
      };
      const restore = () => resultOf('restore', [file], server.proxy.url(url));
      const ending = server.comeThrough(victim, restore, {
        oneOf: oneOf(5),
        meanwhile: isWhole,
      });
      // Where the word of its commit was lost, the next one says so.
      expect(await ending.catch((error: unknown) => (error as Error).message)).toMatch(
        /^(restored|the database already holds 1 rows in access_tokens: )/,
      );
      expect(await isWhole()).toBe(true);
      expect(await resultOf('counts', ['verify'], url)).toMatch(/^the counts are right/);
    },
  );
});
