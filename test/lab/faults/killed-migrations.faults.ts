import { describe, expect, it } from '@jest/globals';
import { migrations } from '../../../src/app.module.js';
import { migrate } from '../../../src/database/setup/index.js';
import { addRows, withSql } from '../../support/backup-rows.js';
import { runHere } from '../../support/service-here.js';
import { firstColumn } from '../../support/postgres-cluster.js';
import { everything, loadVersion03 } from '../../upgrade/version-0-3.js';
import { useCluster, useLossyProxy } from './support/use-cluster.js';

const FUNCTIONS = `select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace order by 1`;
const RUN = 'select name from migrations order by timestamp';
const NAMES = migrations
  .map((Migration) => new Migration().name)
  .sort((one, other) => Number(one.slice(-13)) - Number(other.slice(-13)));

describe('migrations whose database is lost', () => {
  const cluster = useCluster({ fsync: 'off' });
  const proxy = useLossyProxy(cluster);

  it.each([false, true])(
    'are whole when they are run again, of a database of version 0.3: %p',
    async (isOld) => {
      const url = await cluster.createDatabase();
      if (isOld) await loadVersion03({ url, superuserUrl: cluster.asSuperuser(url) });
      const stored = () => withSql(url, (sql) => everything(sql));
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
      expect(await firstColumn(url, RUN)).toEqual(expect.arrayContaining(NAMES));
    },
  );
});
