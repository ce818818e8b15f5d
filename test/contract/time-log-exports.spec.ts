import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  EXPORT_FORMATS,
  type ExportRequest,
  ExportService,
  type LogsOfMoment,
} from '../../src/export/index.js';
import { parseEventId } from '../../src/feed/index.js';
import { eventually } from '../support/eventually.js';
import { LONG_TEXTS, newLog, NUMBERS, TEXTS } from './sample-logs.js';
import { Period } from '../../src/time-log/index.js';
import { compareExport, logsOf } from './compare-export.js';
import { ALL_PROJECTS, useStore } from '../support/storage.js';

describe('exports', () => {
  const store = useStore();
  const run = <T>(request: Partial<ExportRequest>, use: (logs: LogsOfMoment) => Promise<T>) =>
    store.exports.export({ filter: { period: Period.of() }, access: ALL_PROJECTS, ...request }, use);

  it.each(EXPORT_FORMATS)('all values as in JSON, in %s', async (format) => {
    const projectId = randomUUID();
    const logs = [
      ...[...TEXTS, ...LONG_TEXTS].map((description) => newLog({ projectId, description })),
      ...NUMBERS.map((duration) => newLog({ projectId, duration })),
    ];
    await compareExport(new ExportService(store.exports), projectId, [], format);
    for (const log of logs) await store.repository.record([log]);
    await compareExport(new ExportService(store.exports), projectId, logs, format);
  });

  it('what is there at one moment, with the place of the feed at that moment', async () => {
    const log = newLog();
    await store.repository.record([log]);
    const placeOf = (request: Partial<ExportRequest> = {}) =>
      run(request, async ({ lastEventId }) => lastEventId);
    const place = await placeOf();
    expect(await run({}, logsOf)).toContainEqual(log);
    const next = newLog();
    await store.repository.record([next]);
    const filter = { projectIds: [log.projectId], period: Period.of() };
    const page = await store.feed.eventsOfProjects([next.projectId], await placeOf({ filter }), 1000);
    expect(page.events.every((event) => event.log.id !== log.id)).toBe(true);
    await eventually(async () => {
      const events = await store.feed.eventsAfter(parseEventId(place!), 1000);
      // Events of other transactions may come again.
      expect(events.at(-1)?.log).toEqual(next);
    });
  });

  it('and ends when the signal or the reader does', async () => {
    await store.repository.record([newLog()]);
    const stop = new AbortController();
    const reason = new Error('enough');
    await expect(
      run({ signal: stop.signal }, async (logs) => {
        stop.abort(reason);
        return logsOf(logs);
      }),
    ).rejects.toBe(reason);
    await expect(
      run({}, async ({ pages }) => {
        for await (const logs of pages) if (logs.length > 0) throw reason;
      }),
    ).rejects.toBe(reason);
    expect(await run({}, async () => 1)).toBe(1);
  });
});
