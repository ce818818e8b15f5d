import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { LOG } from '../support/requests.js';
import { PageRequest, Period, type TimeLog, TimeLogService } from '../../src/time-log/index.js';
import type { DataSource } from 'typeorm';
import {
  ALL_PROJECTS,
  LONG_QUEUE_LIMITS,
  newIds,
  repositoryOver,
  useDatabase,
  useStore,
} from '../support/storage.js';
import { keyOfBatch, keyOfLog, newLog, recordAllOnce, recordOnce } from './sample-logs.js';

const newKey = () => ({ caller: 'ada', text: randomUUID() });

describe('batches in PostgreSQL', () => {
  const database = useDatabase();
  let dataSource: DataSource;
  /** As of several instances of the service. */
  let instances: TimeLogService[];
  let timeLogs: TimeLogService;

  const serviceOver = (source: DataSource, queue = LONG_QUEUE_LIMITS) =>
    new TimeLogService(repositoryOver(source, undefined, queue), newIds());
  beforeAll(async () => {
    const sources = await Promise.all([1, 2, 3].map(() => database.openAsService()));
    instances = sources.map((source) => serviceOver(source));
    [dataSource, timeLogs] = [sources[0]!, instances[0]!];
  });

  const valuesOf = (count: number, projectId: string) =>
    Array.from({ length: count }, (_, index) => ({ ...LOG, projectId, duration: index + 1 }));
  const totalOf = async (projectId: string) =>
    (await timeLogs.list({ projectIds: [projectId], period: Period.of() }, PageRequest.of(1, 1))).total;

  it('make one batch of many requests with a key over several instances, and all get its logs', async () => {
    for (let round = 0; round < 3; round++) {
      const [projectId, key] = [randomUUID(), newKey()];
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          instances[index % 3]!.recordAllOnce(valuesOf(100, projectId), key),
        ),
      );
      for (const { logs } of answers) expect(logs).toEqual(answers[0]!.logs);
      expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
      expect(await totalOf(projectId)).toBe(100);
    }
  });

  it('keep the logs of a key after one is deleted, until a single log takes over the expired key', async () => {
    const [projectId, key] = [randomUUID(), newKey()];
    const { logs } = await timeLogs.recordAllOnce(valuesOf(2, projectId), key);
    await timeLogs.delete(logs[0]!.id);
    expect(await timeLogs.recordAllOnce(valuesOf(2, projectId), key)).toEqual({ logs, isReplay: true });
    await dataSource.query(
      `update time_log_keys set created_at = now() - interval '2 days' where text = $1`,
      [key.text],
    );
    const { log } = await timeLogs.recordOnce({ ...LOG, projectId }, key);
    expect(await dataSource.query('select logs from time_log_keys where text = $1', [key.text])).toEqual([
      { logs: [{ ...(log as object) }] },
    ]);
  });

  it.each([
    [
      'a trigger drops',
      `create function others() returns trigger language plpgsql as $$
         begin return case when new.duration <> 2 then new end; end $$;
       create trigger others before insert on time_logs for each row execute function others()`,
      { message: expect.stringContaining('a trigger of the database dropped time logs: 2 left') },
    ],
    [
      'a constraint refuses',
      'alter table time_logs add constraint others_check check (duration <> 2) not valid',
      { code: 'CONFLICT', message: 'the database refuses this time log: it violates a constraint' },
    ],
    [
      'a rule replaces',
      'create rule others as on insert to time_logs where new.duration = 2 do instead nothing',
      {},
    ],
  ])('store nothing, and no key, if %s one of the logs', async (_what, fault, error) => {
    const [projectId, key] = [randomUUID(), newKey()];
    const values = valuesOf(3, projectId);
    const removal = `drop rule if exists others on time_logs; drop function if exists others cascade;
      alter table time_logs drop constraint if exists others_check`;
    await dataSource.query(fault);
    try {
      await expect(timeLogs.recordAll(values)).rejects.toMatchObject(error);
      await expect(timeLogs.recordAllOnce(values, key)).rejects.toMatchObject(error);
      expect(await totalOf(projectId)).toBe(0);
    } finally {
      await dataSource.query(removal);
    }
    expect((await timeLogs.recordAllOnce(values, key)).isReplay).toBe(false);
    expect(await totalOf(projectId)).toBe(3);
  });

  it('wait for each other, and single logs find a full queue unless the caller has a deadline', async () => {
    const projectId = randomUUID();
    const busy = serviceOver(dataSource, { limits: { ...LONG_QUEUE_LIMITS.limits, writeQueue: 20 } });
    const values = valuesOf(1_000, projectId);
    const full = {
      status: 503,
      message: expect.stringMatching(/the write queue is full.*limits\.writeQueue/),
    };
    const settled = async (options: { deadline?: number }) => {
      const singles = values.map((some) => busy.record(some, options));
      const batches = [1, 2, 3].map(() => busy.recordAll(values, options));
      const outcomes = await Promise.allSettled<unknown>([...singles, ...batches]);
      return outcomes.filter(({ status }) => status === 'rejected');
    };
    const refused = await settled({});
    // One runs, and as many wait as have room.
    expect(refused).toHaveLength(1_000 - 1 - 20);
    for (const { reason } of refused as PromiseRejectedResult[]) expect(reason).toMatchObject(full);
    const before = await totalOf(projectId);
    expect(before).toBe(21 + 3_000);
    expect(await settled({ deadline: 600_000 })).toEqual([]);
    expect(await totalOf(projectId)).toBe(before + 4_000);
  });
});

const REUSED = { code: 'IDEMPOTENCY_KEY_REUSED' };

describe('the store adds a batch', () => {
  const store = useStore();
  const idsOf = (logs: readonly TimeLog[]) => logs.map(({ id }) => id);
  const newKey = () => ({ caller: randomUUID(), text: 'key' });
  const newBatch = (projectId: string, ...durations: number[]) =>
    durations.map((duration) => newLog({ projectId, duration }));
  const storedIn = async (projectId: string) => {
    const filter = { projectIds: [projectId], period: Period.of() };
    const { logs, total } = await store.repository.find(filter, PageRequest.of(1, 1000), ALL_PROJECTS);
    expect(total).toBe(logs.length);
    return logs.toReversed();
  };

  it('as a whole or not at all', async () => {
    const projectId = randomUUID();
    const [known, ...others] = newBatch(projectId, 1, 2, 3);
    await store.repository.record([known!]);
    const batch = [others[0]!, known!, others[1]!];
    await expect(store.repository.record(batch)).rejects.toThrow();
    const key = newKey();
    await expect(recordAllOnce(store.repository, batch, key)).rejects.toThrow();
    expect(await storedIn(projectId)).toEqual([known]);
    expect(await recordAllOnce(store.repository, others, key)).toEqual(idsOf(others));
    expect(await storedIn(projectId)).toEqual([known, ...others]);
  });

  it('and rejects its key with other logs, another order, or a single log', async () => {
    const [projectId, key, keyOfOne] = [randomUUID(), newKey(), newKey()];
    const [one, other] = newBatch(projectId, 1, 2);
    await recordAllOnce(store.repository, [one!, other!], key);
    await recordAllOnce(store.repository, [newLog({ projectId })], keyOfOne);
    for (const durations of [[2, 1], [1], [1, 2, 1], [1, 3]]) {
      const batch = newBatch(projectId, ...durations);
      await expect(recordAllOnce(store.repository, batch, key)).rejects.toMatchObject(REUSED);
      await expect(store.repository.findByKey(keyOfBatch(batch, key))).rejects.toMatchObject(REUSED);
    }
    for (const used of [key, keyOfOne]) {
      await expect(recordOnce(store.repository, newLog({ projectId }), used)).rejects.toMatchObject(REUSED);
      await expect(store.repository.findByKey(keyOfLog(newLog({ projectId }), used))).rejects.toMatchObject(
        REUSED,
      );
    }
    const single = newKey();
    await recordOnce(store.repository, newLog({ projectId }), single);
    await expect(recordAllOnce(store.repository, [newLog({ projectId })], single)).rejects.toMatchObject(
      REUSED,
    );
    expect((await storedIn(projectId)).length).toBe(4);
  });
});
