import { describe, expect, it } from '@jest/globals';
import { addRows, withSql } from '../../support/backup-rows.js';
import { startHere } from '../../support/service-here.js';
import { eventually } from '../eventually.js';
import { isAll } from '../../support/extent.js';
import { eventsAfter, logOf, record } from './support/feed.js';
import { firstColumn, queryOnce } from '../../support/postgres-cluster.js';
import { TOKEN } from './support/service-under-writes.js';
import { useStruckServer, VICTIMS } from './support/strikes.js';

/** By so much the server from which the database has come was ahead. */
const AHEAD = 1_000_000_000_000;
const KEEP = 'keep_time_log_positions';

describe('a database that has come from another server', () => {
  const server = useStruckServer();

  it.each(VICTIMS)(
    'keeps its positions where the %s is killed in any statement of the first start: a follower gets what is new',
    async (victim) => {
      const url = await server.createMigrated();
      await withSql(url, async (sql) => {
        await addRows(sql, 1, 3);
        await sql.query('alter table time_logs disable trigger zz_tell_correction');
        await sql.query(`update time_logs set position = position + ${AHEAD}`);
        await sql.query('alter table time_logs enable trigger zz_tell_correction');
      });
      // The place of whoever has read all of it there.
      const places = `select position || '-' || id from time_logs order by position desc, id desc`;
      const [last] = (await firstColumn(url, places)) as string[];
      const isKept = async () => {
        const [kept] = await queryOnce<{ shift: boolean; note: boolean; triggers: boolean }>(
          url,
          `select pg_get_expr(adbin, adrelid) ~ '\\+' as shift,
                  obj_description('${KEEP}()'::regprocedure, 'pg_proc') is not null as note,
                  (select bool_and(tgargs <> '\\x3000') from pg_trigger
                    where tgrelid = adrelid and tgname ~ '^(zz_)?tell_') as triggers
             from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
            where adrelid = 'time_logs'::regclass and attname = 'position'`,
        );
        expect([true, false].map((is) => ({ shift: is, note: is, triggers: is }))).toContainEqual(kept);
        return kept!.shift;
      };
      expect(await isKept()).toBe(false);
      const start = () => startHere({ DATABASE_URL: server.proxy.url(url), ACCESS_TOKEN: TOKEN });
      const service = await server.comeThrough(victim, start, {
        isMeant: (sql) => isAll || sql.includes(KEEP) || /^(begin|commit)/i.test(sql),
        meanwhile: isKept,
        undo: (struck) => struck.end(),
      });
      expect(server.proxy.struck.filter((step) => step.includes(KEEP))).toHaveLength(2);
      expect(await isKept()).toBe(true);
      const recorded = [await record(service), await record(service)];
      await eventually(async () => expect((await eventsAfter(service, last)).map(logOf)).toEqual(recorded));
      await service.end();
    },
  );
});
