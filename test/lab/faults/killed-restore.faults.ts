import { beforeAll, describe, expect, it } from '@jest/globals';
import { addOddRows, addRows, everything, withSql } from '../../support/backup-rows.js';
import { useFolder } from '../../support/fixtures.js';
import { storeToken } from '../tokens.js';
import { oneOf, resultOf, useStruckServer, VICTIMS } from './support/strikes.js';

describe('a restore', () => {
  const server = useStruckServer();
  const inFolder = useFolder('killed-restore-');
  let saved: Record<string, string[]>;

  beforeAll(async () => {
    const source = await server.createMigrated();
    await storeToken(source);
    await withSql(source, async (sql) => {
      await addOddRows(sql);
      // More than one message of rows.
      await addRows(sql, 10, 1_000, 'repeat(md5(n::text), 5)');
      await sql.query('delete from time_logs where duration between 100 and 110');
      saved = await everything(sql);
    });
    await resultOf('backup', [inFolder('file')], source);
  });

  it.each(VICTIMS)(
    'brings all or nothing where the %s is killed in any statement, and needs no more than to be run again',
    async (victim) => {
      const url = await server.createMigrated();
      /** Whether it has brought all; if not, it has brought nothing. */
      const isWhole = async () => {
        const rows = await withSql(url, everything);
        const isEmpty = Object.values(rows).every(({ length }) => length === 0);
        if (!isEmpty) expect(rows).toEqual(saved);
        return !isEmpty;
      };
      const restore = () => resultOf('restore', [inFolder('file')], server.proxy.url(url));
      const ending = server.comeThrough(victim, restore, {
        oneOf: oneOf(5),
        meanwhile: isWhole,
      });
      // Where the word of its commit was lost, the next one says so.
      expect(await ending.catch((error: unknown) => (error as Error).message)).toMatch(
        /^(restored|the database already holds 1 rows in access_tokens: )/,
      );
      expect(await isWhole()).toBe(true);
      expect(await resultOf('counts', ['verify'], url)).toMatch(/^the counts are correct/);
    },
  );
});
