import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
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
  type TimeLogRepository,
} from '../../../../src/time-log/index.js';
import { type ContractSuite, textOf } from './contract-suite.js';
import { eventually } from './eventually.js';
import { newLog } from './new-log.js';
import { LONG_TEXTS, NUMBERS, TEXTS } from './sample-values.js';

interface RepositoryWithExports {
  readonly repository: TimeLogRepository;
  readonly exports: ExportRepository;
  readonly feed?: FeedRepository | undefined;
}

/** Adds the cases of exports. `create` returns an empty repository and its exports. */
export function describeExport(suite: ContractSuite, create: () => Promise<RepositoryWithExports>): void {
  suite.describe('exports', () => {
    let made: RepositoryWithExports;
    suite.before(async () => {
      made = await create();
    });
    const run = <T>(request: Partial<ExportRequest>, use: (logs: ExportedLogs) => Promise<T>) =>
      made.exports.export(
        { filter: { period: Period.of() }, format: 'ndjson', access: ALL_PROJECTS, ...request },
        use,
      );

    suite.each(EXPORT_FORMATS, 'all values as in JSON, in %s', async (format) => {
      const projectId = randomUUID();
      const logs = [
        ...[...TEXTS, ...LONG_TEXTS].map((description) => newLog({ projectId, description })),
        ...NUMBERS.map((duration) => newLog({ projectId, duration })),
      ];
      await compareExport(made.exports, projectId, [], format);
      for (const log of logs) await made.repository.add(log);
      await compareExport(made.exports, projectId, logs, format);
    });

    suite.it('what is there at one moment, with the place of the feed at that moment', async () => {
      const { feed, repository } = made;
      const log = newLog();
      await repository.add(log);
      const placeOf = (request: Partial<ExportRequest> = {}) =>
        run(request, async ({ lastEventId }) => lastEventId);
      const place = await placeOf();
      ok((await run({}, textOf)).includes(JSON.stringify(logResponse(log).data)));
      if (feed === undefined) return;
      const next = newLog();
      await repository.add(next);
      const filter = { projectIds: [log.projectId], period: Period.of() };
      const page = await feed.eventsOfProjects([next.projectId], await placeOf({ filter }), 1000);
      ok(page.events.every((event) => event.log.id !== log.id));
      await eventually(async () => {
        const events = await feed.eventsAfter(parseEventId(place!), 1000);
        // Events of other transactions may come again.
        deepEqual(events.at(-1)?.log, next);
      });
    });

    suite.it('and ends when the signal or the reader does', async () => {
      await made.repository.add(newLog());
      const stop = new AbortController();
      const reason = new Error('enough');
      await rejects(
        run({ format: 'csv', signal: stop.signal }, async (logs) => {
          stop.abort(reason);
          return textOf(logs);
        }),
        reason,
      );
      await rejects(
        run({ format: 'csv' }, async ({ content }) => {
          for await (const bytes of content) if (bytes.length > 0) throw reason;
        }),
        reason,
      );
      equal(await run({}, async () => 1), 1);
    });
  });
}

/** Compares the export of a project with the bodies of all its logs, in the order of creation. */
export async function compareExport(
  exports: ExportRepository,
  projectId: string,
  logs: readonly TimeLog[],
  format: ExportFormat,
  columns: readonly string[] = CSV_COLUMNS,
): Promise<void> {
  const filter = { projectIds: [projectId], period: Period.of() };
  const [text, total] = await exports.export({ filter, format, access: ALL_PROJECTS }, async (exported) => [
    await textOf(exported),
    exported.total,
  ]);
  equal(total, logs.length);
  const bodies = logs.map((log) => logResponse(log).data);
  if (format === 'ndjson') deepEqual(text.split('\n'), [...bodies.map((body) => JSON.stringify(body)), '']);
  else {
    const rows = bodies.map((body) => columns.map((name) => fieldOf(Reflect.get(body, name))));
    deepEqual(rowsIn(text), [columns, ...rows]);
  }
}

function fieldOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

function rowsIn(csv: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\n)/g)) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain!);
    if (end === '\n') rows.push([]);
  }
  return rows.slice(0, -1);
}
