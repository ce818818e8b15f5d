import { describe, expect, it } from '@jest/globals';
import { migrations } from '../../../src/app.module.js';
import { migrate } from '../../../src/database/setup/index.js';
import { addRows, withSql } from '../../support/backup-rows.js';
import { runHere } from '../../support/commands-here.js';
import { firstColumn } from '../../support/postgres-cluster.js';
import { type EarlierVersion, everything, loadVersion } from '../../upgrade/earlier-version.js';
import { useCluster, useLossyProxy } from './support/use-cluster.js';

const NONE = 'no version';
/** All functions but those that only instances of an earlier version call. */
const FUNCTIONS = `select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
  and exists (select from pg_trigger where tgfoid = pg_proc.oid) or proname ~ 'time_logs|fold|rebuild|faults' order by 1`;
const RUN = 'select name from migrations order by timestamp';
const NAMES = migrations
  .map((Migration) => new Migration().name)
  .sort((one, other) => Number(one.slice(-13)) - Number(other.slice(-13)));

describe('migrations whose database is lost', () => {
  const cluster = useCluster({ fsync: 'off' });
  const proxy = useLossyProxy(cluster);

  it.each([NONE, '0.1', '0.2'])(
    'in each of them from %s on are whole when they are run again',
    async (version) => {
      const url = await cluster.createDatabase();
      const isOld = version !== NONE;
      if (isOld)
        await loadVersion(version as EarlierVersion, { url, superuserUrl: cluster.asSuperuser(url) });
      const stored = () => withSql(url, (sql) => everything(sql, '0.1'));
      const before = isOld ? await stored() : undefined;
      const run = isOld ? await firstColumn(url, RUN) : [];
      for (const name of NAMES.filter((each) => !run.includes(each)))
        for (const lost of ['statement', 'answer'] as const) {
          const isLost = proxy.lose(name, { lost, by: 'reset' });
          await expect(migrate({ url: proxy.url(url), migrations })).rejects.toThrow();
          await isLost;
          const done = await firstColumn(url, RUN).catch((): unknown[] => []);
          expect(done.includes(name)).toBe(lost === 'answer');
        }
      expect(await migrate({ url, migrations })).toEqual([]);
      if (isOld) expect(await stored()).toEqual(before);
      await withSql(url, (sql) => addRows(sql, 1, 10));
      expect(await runHere('counts', ['verify'], { DATABASE_URL: url })).toMatchObject({ code: 0 });
      const fresh = await cluster.createDatabase();
      await migrate({ url: fresh, migrations });
      expect(await firstColumn(url, FUNCTIONS)).toEqual(await firstColumn(fresh, FUNCTIONS));
      expect(await firstColumn(url, RUN)).toEqual(NAMES);
    },
  );
});
