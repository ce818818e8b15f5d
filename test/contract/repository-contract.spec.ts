import { describe, expect, it } from '@jest/globals';
import type { TimeLog } from '../../src/time-log/domain/time-log.js';
import { ALL_PROJECTS, InMemoryTimeLogRepository, timeLogRepositoryContract } from '../support/storage.js';

class Blabs extends InMemoryTimeLogRepository {
  override get(id: string): Promise<TimeLog | undefined> {
    return super.get(id, ALL_PROJECTS);
  }
}

describe('the contract of a repository', () => {
  it('fails an adapter that is wrong', async () => {
    const cases = timeLogRepositoryContract({ make: () => new Blabs() });
    const name = 'within an access, gets, corrects and deletes a log of another project only if it may';
    await expect(cases.find((one) => one.name === name)!.run()).rejects.toThrow();
  });

  it('has a name for each case, and runs them in any order', async () => {
    const itself = (logs: InstanceType<typeof InMemoryTimeLogRepository>) => logs;
    const cases = timeLogRepositoryContract({
      make: () => new InMemoryTimeLogRepository(),
      totalsOf: itself,
      feedOf: itself,
    });
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
    expect(cases.length).toBeGreaterThan(40);
    for (const one of cases.toReversed()) await one.run();
  });
});
