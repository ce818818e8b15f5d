import { expect, it, jest } from '@jest/globals';
import { newLog } from '../../../libs/host-kit/src/contract/new-log.js';
import { InMemoryTimeLogRepository } from '../../../libs/host-kit/src/testing/index.js';
import { FeedService } from './feed.service.js';

it('returns the events after the one with an id, and rejects a malformed id', async () => {
  const repository = new InMemoryTimeLogRepository();
  const logs = [newLog(), newLog()];
  for (const log of logs) await repository.add(log);
  const service = new FeedService(repository);
  const events = await service.events(undefined, 50);
  expect(events.map(({ log }) => log)).toEqual(logs);
  expect(await service.events(events[0]!.id, 50)).toEqual(events.slice(1));
  await expect(service.events(logs[0]!.id, 50)).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    message: 'lastEventId must be the id of an event',
  });
});

it('returns the events of the projects that the caller may read', async () => {
  const repository = new InMemoryTimeLogRepository();
  const logs = [newLog(), newLog()];
  for (const log of logs) await repository.add(log);
  const service = new FeedService(repository);
  const [own, foreign] = logs.map(({ projectId }) => [projectId]) as [string[], string[]];
  const read = async (...options: Parameters<FeedService['page']>) => {
    const { events, next, isLast } = await service.page(...options);
    return [events.map(({ log }) => log), next, isLast];
  };
  const end = '2-ffffffff-ffff-ffff-ffff-ffffffffffff';
  expect(await read(undefined, 50, { access: own })).toEqual([[logs[0]], end, true]);
  expect(await read(undefined, 50, { projectIds: foreign })).toEqual([[logs[1]], end, true]);
  expect(await read(undefined, 1, { access: own })).toEqual([[logs[0]], `1-${logs[0]!.id}`, false]);
  expect(await read('0-' + logs[0]!.id, 50, { access: [] })).toEqual([[], `0-${logs[0]!.id}`, true]);
  expect(await read(undefined, 50)).toEqual([logs, `2-${logs[1]!.id}`, true]);
  await expect(service.page(undefined, 50, { access: own, projectIds: foreign })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
  await expect(service.page('x', 50, { access: [] })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  await expect(service.page('x'.repeat(64), 50)).rejects.toMatchObject({ code: 'GONE' });
});

it('reads on over pages without events, up to the next event', async () => {
  const repository = new InMemoryTimeLogRepository();
  const log = newLog();
  await repository.add(log);
  const pages = jest.spyOn(repository, 'eventsOfProjects');
  pages.mockResolvedValueOnce({ events: [], next: '0-ffffffff-ffff-ffff-ffff-ffffffffffff', isLast: false });
  const events = await new FeedService(repository).events(undefined, 50, { access: [log.projectId] });
  expect(events.map((event) => event.log)).toEqual([log]);
  expect(pages.mock.calls.map(([, place]) => place)).toEqual([
    undefined,
    '0-ffffffff-ffff-ffff-ffff-ffffffffffff',
  ]);
});
