import { expect, it } from '@jest/globals';
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
