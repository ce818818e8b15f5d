import { deepEqual, equal, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ALL_PROJECTS, PageRequest, Period, type TimeLog } from '../../../../src/time-log/index.js';
import { type ContractSubject, type ContractSuite, find } from './contract-suite.js';
import { newLog } from './new-log.js';

const REUSED = { code: 'IDEMPOTENCY_KEY_REUSED' };

/** Adds the cases of logs that are added together. */
export function describeBatches(suite: ContractSuite, { repository }: ContractSubject): void {
  suite.describe('adds a batch', () => {
    const idsOf = (logs: readonly TimeLog[]) => logs.map(({ id }) => id);
    const newKey = () => ({ caller: randomUUID(), text: 'key' });
    const newBatch = (projectId: string, ...durations: number[]) =>
      durations.map((duration) => newLog({ projectId, duration }));
    const storedIn = async (projectId: string) => {
      const filter = { projectIds: [projectId], period: Period.of() };
      const { logs, total } = await find(repository(), filter, PageRequest.of(1, 1000), ALL_PROJECTS);
      equal(total, logs.length);
      return logs.toReversed();
    };

    suite.it('of 1000 logs with all their values, and the count', async () => {
      const projectId = randomUUID();
      const batch = Array.from({ length: 1000 }, (_, index) =>
        newLog({ projectId, duration: 0.1 + index, description: `'${index}", {}\n\\` }),
      );
      await repository().addAll(batch);
      deepEqual(await storedIn(projectId), batch);
    });

    suite.it('as a whole or not at all', async () => {
      const projectId = randomUUID();
      const [known, ...others] = newBatch(projectId, 1, 2, 3);
      await repository().add(known!);
      const batch = [others[0]!, known!, others[1]!];
      await rejects(repository().addAll(batch));
      const key = newKey();
      await rejects(repository().addAllOnce(batch, key));
      deepEqual(await storedIn(projectId), [known]);
      deepEqual(await repository().addAllOnce(others, key), idsOf(others));
      deepEqual(await storedIn(projectId), [known, ...others]);
    });

    suite.it('once per key, and returns the ids of the first batch to retries', async () => {
      const [projectId, key] = [randomUUID(), newKey()];
      const first = newBatch(projectId, 1, 2);
      equal(await repository().knownAll(first, key), undefined);
      deepEqual(await repository().addAllOnce(first, key), idsOf(first));
      deepEqual(await repository().addAllOnce(newBatch(projectId, 1, 2), key), idsOf(first));
      deepEqual(await repository().knownAll(newBatch(projectId, 1, 2), key), idsOf(first));
      deepEqual(await storedIn(projectId), first);
      const other = newBatch(projectId, 1, 2);
      deepEqual(await repository().addAllOnce(other, { ...key, text: 'other' }), idsOf(other));
    });

    suite.it('and rejects its key with other logs, another order, or a single log', async () => {
      const [projectId, key, keyOfOne] = [randomUUID(), newKey(), newKey()];
      const [one, other] = newBatch(projectId, 1, 2);
      await repository().addAllOnce([one!, other!], key);
      await repository().addAllOnce([newLog({ projectId })], keyOfOne);
      for (const durations of [[2, 1], [1], [1, 2, 1], [1, 3]]) {
        const batch = newBatch(projectId, ...durations);
        await rejects(repository().addAllOnce(batch, key), REUSED);
        await rejects(repository().knownAll(batch, key), REUSED);
      }
      for (const used of [key, keyOfOne]) {
        await rejects(repository().addOnce(newLog({ projectId }), used), REUSED);
        await rejects(repository().known(newLog({ projectId }), used), REUSED);
      }
      const single = newKey();
      await repository().addOnce(newLog({ projectId }), single);
      await rejects(repository().addAllOnce([newLog({ projectId })], single), REUSED);
      equal((await storedIn(projectId)).length, 4);
    });

    suite.it('once during concurrent retries', async () => {
      const [projectId, key] = [randomUUID(), newKey()];
      const batches = Array.from({ length: 20 }, () => newBatch(projectId, 1, 2, 3));
      const answers = await Promise.all(batches.map((batch) => repository().addAllOnce(batch, key)));
      const ids = idsOf(await storedIn(projectId));
      equal(ids.length, 3);
      for (const answer of answers) deepEqual(answer, ids);
    });
  });
}
