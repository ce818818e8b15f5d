import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { queryOnce } from '../support/postgres-cluster.js';
import {
  ALL_PROJECTS,
  Database,
  type DataSource,
  Logger,
  newIds,
  PageRequest,
  LONG_QUEUE_LIMITS,
  Period,
  TimeLogService,
  TypeOrmExportRepository,
  TypeOrmTimeLogRepository,
  TypeOrmTotalsRepository,
  useDatabase,
} from '../support/storage.js';
import { logsOf } from './compare-export.js';

/* A second database acts as the replica: its rows differ from those of the primary. */

const ALL = { period: Period.of() };
const PAGE = PageRequest.of(1, 9);
const values = { projectId: randomUUID(), duration: 1, description: '', date: '2026-01-31' };
const [primary, replica] = [useDatabase(), useDatabase()];
const lines: string[] = [];
let dataSource: DataSource;
let logs: TypeOrmTimeLogRepository;
let service: TimeLogService;

const allow = (isAllowed: boolean) =>
  queryOnce(
    primary.superuserUrl,
    `update pg_database set datallowconn = ${isAllowed} where datname = '${replica.name}'`,
  );
const endBackends = () =>
  queryOnce(
    primary.superuserUrl,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${replica.name}'`,
  );

/** The numbers of logs that the reads find which may be behind. */
async function lagging(): Promise<unknown[]> {
  const exported = async () => {
    const request = { filter: ALL, access: ALL_PROJECTS } as const;
    return new TypeOrmExportRepository(logs).export(request, async (found) => (await logsOf(found)).length);
  };
  const iterated = async () => {
    let count = 0;
    for await (const log of service.iterate()) count += log.duration;
    return count;
  };
  const totals = new TypeOrmTotalsRepository(logs).totals(ALL, undefined, PAGE, ALL_PROJECTS);
  const found = await Promise.allSettled([
    service.list(ALL, PAGE).then(({ total }) => total),
    service.items(ALL, PAGE).then(({ total }) => total),
    totals.then(({ whole }) => whole.count),
    exported(),
    iterated(),
  ]);
  return found.map((one) => (one.status === 'fulfilled' ? one.value : codeOf(one.reason)));
}

const codeOf = (error: unknown) => (error as { code?: unknown }).code;

const keep = (line: string) => void lines.push(line);
beforeAll(() => {
  Logger.overrideLogger({ log: keep, warn: keep, error: keep });
});
afterAll(() => {
  Logger.overrideLogger(false);
});
beforeEach(async () => {
  await openReplicas(replica.url);
  lines.length = 0;
});
afterEach(async () => {
  jest.restoreAllMocks();
  await allow(true);
});

const openReplicas = async (...urls: string[]) => {
  const slaves = urls.map((url) => ({ url }));
  dataSource = await primary.open({ replication: { master: { url: primary.url }, slaves } });
};

const open = (options?: { readReplica: boolean }) => {
  logs = new TypeOrmTimeLogRepository(new Database(dataSource, options), LONG_QUEUE_LIMITS);
  service = new TimeLogService(logs, newIds());
};

it('reads lists, totals and exports from the replica, and what must be current from the primary', async () => {
  open({ readReplica: true });
  const { id } = await service.record(values);
  expect(await lagging()).toEqual([0, 0, 0, 0, 0]);
  expect(await service.get(id)).toMatchObject(values);
  await service.patch(id, () => ({ ...values, duration: 1 }));
  open();
  expect(await lagging()).toEqual([1, 1, 1, 1, 1]);
  await service.delete(id);
});

it('refuses reads while the replica is away, and serves the others', async () => {
  open({ readReplica: true });
  await allow(false);
  await endBackends();
  await eventually(async () => expect(await lagging()).toEqual(Array(5).fill('SERVICE_UNAVAILABLE')));
  const { id } = await service.record(values);
  expect(await service.get(id)).toMatchObject(values);
  await service.delete(id);
  const unavailable = [expect.stringMatching(/^read replica unavailable: /)];
  expect(lines).toEqual(unavailable);
  await allow(true);
  await eventually(async () => expect(await lagging()).toEqual([0, 0, 0, 0, 0]));
  expect(lines).toEqual(unavailable);
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + 10_000);
  await lagging();
  expect(lines.slice(1)).toEqual(['read replica available again']);
});

it('logs one line while one of two replicas is away', async () => {
  await openReplicas(replica.url, primary.url);
  open({ readReplica: true });
  await allow(false);
  await endBackends();
  const found = new Set<unknown>();
  // TypeORM picks a replica at random.
  await eventually(async () => {
    found.add(await service.list().then(() => 'page', codeOf));
    expect([...found]).toEqual(expect.arrayContaining(['page', 'SERVICE_UNAVAILABLE']));
  });
  for (let left = 20; left > 0; left--) await lagging();
  expect(lines).toEqual([expect.stringMatching(/^read replica unavailable: /)]);
});
