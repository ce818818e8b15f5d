import { deepEqual, equal, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  CSV_COLUMNS,
  EXPORT_FORMATS,
  type ExportedLogs,
  type ExportFormat,
  type ExportRepository,
  type ExportRequest,
} from '../../../../src/export/index.js';
import { type FeedRepository, parseEventId } from '../../../../src/feed/index.js';
import {
  ALL_PROJECTS,
  logResponse,
  Period,
  type TimeLog,
  type TimeLogFilter,
  type TimeLogRepository,
  type TimeLogValues,
} from '../../../../src/time-log/index.js';
import type { ContractSuite } from './contract-suite.js';
import { eventually } from './eventually.js';
import { newLog } from './new-log.js';

interface RepositoryWithExports {
  readonly repository: TimeLogRepository;
  readonly exports: ExportRepository;
  readonly feed?: FeedRepository | undefined;
}

/** Descriptions of all characters up to U+2100, and some that CSV and JSON quote. */
const TEXTS = [
  ...(Array.from({ length: 0x2100 }, (_, code) => String.fromCodePoint(code + 1))
    .join('')
    .match(/[^]{1,4000}/g) ?? []),
  ...['', ',', '"', '""', '\n', '\r\n', '\\', '\\.', ' a ', '=1+1', '\u{10ffff}"\\'],
];
const { MAX_SAFE_INTEGER, MAX_VALUE } = Number;
/** Numbers on both sides of each change of their form, and with 15 to 17 digits. */
const NUMBERS = [
  ...[
    5e-324,
    1e-7,
    1.5e-7,
    9.99e-7,
    1e-6,
    1.5e-6,
    0.1,
    0.1 + 0.2,
    1 / 3,
    1.5,
    10,
    100,
    1e15,
    123456789012345,
  ],
  ...[1234567890123456, MAX_SAFE_INTEGER, 1e20, 999999999999999900000, 1e21, 1.5e21, 1e23, MAX_VALUE],
];
/** Days in another order than creation. */
const DAYS = ['9999-12-31', '0001-01-01', '2026-02-28', '2026-01-31', '2026-01-31', '2024-02-29'];

/** Adds the cases of exports. `create` returns an empty repository and its exports. */
export function describeExport(suite: ContractSuite, create: () => Promise<RepositoryWithExports>): void {
  suite.describe('exports', () => {
    const everything = { period: Period.of() };
    let made: RepositoryWithExports;
    suite.before(async () => {
      made = await create();
    });
    const run = <T>(request: Partial<ExportRequest>, use: (logs: ExportedLogs) => Promise<T>) =>
      made.exports.export({ filter: everything, format: 'ndjson', access: ALL_PROJECTS, ...request }, use);
    const exported = (request: Partial<ExportRequest> = {}) =>
      run(request, async ({ content, lastEventId }) => ({ text: await textOf(content), lastEventId }));
    const addAll = async (values: readonly Partial<TimeLogValues>[]) => {
      const projectId = randomUUID();
      const logs = values.map((some) => newLog({ projectId, ...some }));
      for (const log of logs) await made.repository.add(log);
      return { logs, projectId };
    };
    const of = (projectId: string, period = Period.of()): TimeLogFilter => ({
      projectIds: [projectId],
      period,
    });

    suite.it('no logs, but the columns of CSV', async () => {
      const filter = of(randomUUID());
      equal((await exported({ filter })).text, '');
      equal((await exported({ filter, format: 'csv' })).text, `${CSV_COLUMNS.join()}\n`);
    });

    suite.each(EXPORT_FORMATS, 'all values as in JSON, in %s', async (format) => {
      const { logs, projectId } = await addAll([
        ...TEXTS.map((description) => ({ description })),
        ...NUMBERS.map((duration) => ({ duration })),
        ...DAYS.map((date) => ({ date })),
      ]);
      const { text } = await exported({ filter: of(projectId), format });
      deepEqual(LINES[format](text), inOrder(logs).map(LINE_OF[format]));
    });

    suite.it('the logs of a period, and of the projects that the caller may access', async () => {
      const own = await addAll(DAYS.map((date) => ({ date })));
      const other = await addAll(DAYS.map((date) => ({ date })));
      const both = inOrder([...own.logs, ...other.logs]).map(LINE_OF.ndjson);
      const ids = async (request: Partial<ExportRequest>) => LINES.ndjson((await exported(request)).text);
      const access = [own.projectId, other.projectId, own.projectId, randomUUID()];
      deepEqual(await ids({ access }), both);
      deepEqual(await ids({ access: [] }), []);
      deepEqual(await ids({ access: [own.projectId], filter: of(other.projectId) }), []);
      const [first, last] = ['2024-02-29', '2026-01-31'];
      deepEqual(
        await ids({ filter: of(own.projectId, Period.of(first, last)) }),
        inOrder(own.logs)
          .filter(({ date }) => first <= date && date <= last)
          .map(LINE_OF.ndjson),
      );
    });

    suite.it('what is there at one moment, with the place of the feed at that moment', async () => {
      const { feed, repository } = made;
      const log = newLog();
      await repository.add(log);
      const { text, lastEventId } = await exported();
      equal(LINES.ndjson(text).includes(LINE_OF.ndjson(log)), true);
      for (const request of [
        { filter: { period: Period.of('0001-01-01') } },
        { filter: { period: Period.of(undefined, '9999-12-31') } },
      ])
        equal((await exported(request)).lastEventId, undefined);
      if (feed === undefined) return;
      const next = newLog();
      await repository.add(next);
      const ofProject = await exported({ filter: of(log.projectId) });
      const page = await feed.eventsOfProjects([next.projectId], ofProject.lastEventId, 1000);
      equal(
        page.events.some((event) => event.log.id === log.id),
        false,
      );
      await eventually(async () => {
        const events = await feed.eventsAfter(parseEventId(lastEventId!), 1000);
        // Events of other transactions may come again.
        deepEqual(events.at(-1)?.log, next);
      });
      equal(await run({}, async () => 1), 1);
    });

    suite.it('and ends when the signal or the reader does', async () => {
      const stop = new AbortController();
      const reason = new Error('enough');
      await rejects(
        run({ format: 'csv', signal: stop.signal }, async ({ content }) => {
          stop.abort(reason);
          return textOf(content);
        }),
        reason,
      );
      await rejects(
        run({ format: 'csv' }, async ({ content }) => {
          for await (const bytes of content) if (bytes.length > 0) throw reason;
        }),
        reason,
      );
    });
  });
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts).toString();
}

function inOrder(logs: readonly TimeLog[]): TimeLog[] {
  return logs.toSorted((a, b) => (a.date === b.date ? (a.id < b.id ? -1 : 1) : a.date < b.date ? -1 : 1));
}

/** The form of a log in which both are compared. */
const LINE_OF: Readonly<Record<ExportFormat, (log: TimeLog) => unknown>> = {
  ndjson: (log) => JSON.stringify(logResponse(log).data),
  csv: (log) => {
    const body = logResponse(log).data as unknown as Record<string, unknown>;
    return CSV_COLUMNS.map((name) => String(body[name]));
  },
};

const LINES: Readonly<Record<ExportFormat, (text: string) => unknown[]>> = {
  ndjson: (text) => text.split('\n').slice(0, -1),
  csv: (text) => {
    const rows: string[][] = [[]];
    for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\n)/g)) {
      rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain!);
      if (end === '\n') rows.push([]);
    }
    return rows.slice(1, -1);
  },
};
