import { describe, expect, it } from '@jest/globals';
import { migrations } from '../../../src/app.module.js';
import { migrate } from '../../../src/database/setup/index.js';
import { addRows, withSql } from '../../support/backup-rows.js';
import { runCommand } from '../../support/commands.js';
import { startHere } from '../../support/service-here.js';
import { endProcess } from '../../support/service-process.js';
import { type EarlierVersion, everything, loadVersion } from '../../upgrade/earlier-version.js';
import { firstColumn, queryOnce } from '../../support/postgres-cluster.js';
import { eventually } from '../eventually.js';
import { ask } from './support/ask.js';
import { eventsAfter, logOf, record } from './support/feed.js';
import { serve } from './support/serve.js';
import { oneOf, resultOf, useStruckServer, VICTIMS } from './support/strikes.js';
import { TOKEN } from './support/service-under-writes.js';

/** Logs that are there before the migrations that move data, and those that somebody adds after each strike. */
const LOGS = 300;
const NONE = 'no version';
/** All functions but those that only instances of an earlier version call. */
const FUNCTIONS = `select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
  and exists (select from pg_trigger where tgfoid = pg_proc.oid) or proname ~ 'time_logs|fold|rebuild|faults' order by 1`;
const NAMES = migrations.map((Migration) => new Migration().name);

describe('a database of which somebody ends', () => {
  const server = useStruckServer();

  /** A database of an earlier version, or an empty one. */
  const create = async (version: string) => {
    const url = await server.cluster.createDatabase();
    if (version !== NONE)
      await loadVersion(version as EarlierVersion, { url, superuserUrl: server.cluster.asSuperuser(url) });
    return url;
  };
  const storedIn = (url: string) => withSql(url, (sql) => everything(sql, '0.1'));
  const idsIn = (url: string) => firstColumn(url, 'select id from time_logs order by 1');

  /** Writes as somebody who was told that it is stored, from the moment on when there is a table. */
  const writerTo = (url: string) => {
    let written = 0;
    const write = async (more: number) => {
      const [isThere] = await firstColumn(url, `select to_regclass('time_logs') is not null`);
      if (!isThere) return;
      await withSql(url, (sql) => addRows(sql, written + 1, written + more));
      written += more;
    };
    return { write: () => write(written === 0 ? LOGS : 1), written: () => written };
  };

  /** Holds the database of a service that has come through against what was written. */
  const expectWhole = async (service: { readonly url: string }, url: string, logs: number) => {
    const recorded = await record(service);
    const ids = await idsIn(url);
    expect(ids).toContain(recorded);
    expect(ids).toHaveLength(logs + 1);
    expect(await ask(`${service.url}/api/v1/time-logs?limit=1`)).toMatchObject({
      body: { meta: { total: logs + 1 } },
    });
    const deleted = await firstColumn(url, 'select id from time_log_deletions where project_id is not null');
    // The newest is told when it is final.
    await eventually(async () => {
      const told: string[] = [];
      for (let last: string | undefined; ;) {
        const events = await eventsAfter(service, last);
        if (events.length === 0) break;
        told.push(...events);
        last = events.at(-1);
      }
      expect(told.map(logOf).sort()).toEqual([...ids, ...deleted].sort());
    });
    expect(await resultOf('counts', ['verify'], url)).toBe(`the counts are correct: ${logs + 1} logs\n`);
    const fresh = await create(NONE);
    await migrate({ url: fresh, migrations });
    expect(await firstColumn(url, FUNCTIONS)).toEqual(await firstColumn(fresh, FUNCTIONS));
    expect(await firstColumn(url, 'select name from migrations order by name')).toEqual([...NAMES].sort());
  };

  it.each([NONE, '0.1', '0.2'].flatMap((version) => VICTIMS.map((victim) => [victim, version] as const)))(
    'the %s in each statement of a start that migrates it from %s is whole, and the next start serves',
    async (victim, version) => {
      const url = await create(version);
      const isOld = version !== NONE;
      const before = isOld ? await storedIn(url) : undefined;
      const ids = isOld ? await idsIn(url) : [];
      const { write, written } = writerTo(url);
      const env = { DATABASE_URL: server.proxy.url(url), ACCESS_TOKEN: TOKEN };
      const service = await server.comeThrough(victim, () => startHere(env), {
        oneOf: oneOf(version === '0.2' ? 5 : 50),
        meanwhile: write,
        undo: (struck) => struck.end(),
      });
      // A sweep removes old keys after the first create.
      if (isOld) expect(await storedIn(url)).toMatchObject({ time_log_keys: before!.time_log_keys });
      await expectWhole(service, url, ids.length + written());
      await service.end();
      if (!isOld) return;
      await queryOnce(url, 'delete from time_logs where not id = any ($1)', [ids]);
      const { time_log_keys, ...others } = before!;
      expect(time_log_keys).toEqual({ rows: version === '0.1' ? 200 : 160, digest: expect.any(String) });
      expect(await storedIn(url)).toMatchObject(others);
    },
  );

  it('a process by SIGKILL in statements of npm run migrate is whole, and a service starts on it', async () => {
    const url = await create(NONE);
    const { write, written } = writerTo(url);
    const env = { DATABASE_URL: server.proxy.url(url), ACCESS_TOKEN: TOKEN };
    let running!: ReturnType<typeof runCommand>;
    const migrate = async () => {
      running = runCommand('migrate', [], env);
      const { code, stderr } = await running;
      if (code !== 0) throw new Error(stderr.trim() || 'killed');
    };
    await server.comeThrough(() => endProcess(running.child, 'SIGKILL'), migrate, {
      oneOf: oneOf(10) * 8,
      meanwhile: write,
    });
    await expectWhole(await serve(env.DATABASE_URL), url, written());
  });
});
