import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { keyOfBatch, keyOfLog, newLog, recordAllOnce, recordOnce } from './sample-logs.js';
import { ALL_PROJECTS, PageRequest, Period, type TimeLog } from '../support/storage.js';
import { useRepository } from './use-repository.js';

const REUSED = { code: 'IDEMPOTENCY_KEY_REUSED' };

describe('the store adds a batch', () => {
  const store = useRepository();
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

  it('once per key, and returns the ids of the first batch to retries', async () => {
    const [projectId, key] = [randomUUID(), newKey()];
    const first = newBatch(projectId, 1, 2);
    expect(await store.repository.findByKey(keyOfBatch(first, key))).toBe(undefined);
    expect(await recordAllOnce(store.repository, first, key)).toEqual(idsOf(first));
    expect(await recordAllOnce(store.repository, newBatch(projectId, 1, 2), key)).toEqual(idsOf(first));
    expect(await store.repository.findByKey(keyOfBatch(newBatch(projectId, 1, 2), key))).toEqual(
      first.map((log) => ({ ...(log as object) })),
    );
    expect(await storedIn(projectId)).toEqual(first);
    const other = newBatch(projectId, 1, 2);
    expect(await recordAllOnce(store.repository, other, { ...key, text: 'other' })).toEqual(idsOf(other));
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
