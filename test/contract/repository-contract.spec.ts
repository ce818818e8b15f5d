import { describe, expect, it } from '@jest/globals';
import type { ProjectAccess } from '../../src/time-log/domain/project-access.js';
import type { TimeLogPage } from '../../src/time-log/domain/time-log.repository.js';
import type { TimeLog } from '../../src/time-log/domain/time-log.js';
import {
  ALL_PROJECTS,
  InMemoryTimeLogRepository,
  timeLogAttributesContract,
  timeLogRepositoryContract,
} from '../support/storage.js';

type Asked = Parameters<InstanceType<typeof InMemoryTimeLogRepository>['find']>;
type Correction = Parameters<InstanceType<typeof InMemoryTimeLogRepository>['correct']>;

class OldestFirst extends InMemoryTimeLogRepository {
  override async find(...asked: Asked): Promise<TimeLogPage> {
    const { logs, total } = await super.find(...asked);
    return { logs: logs.toReversed(), total };
  }
}

class CountsThePage extends InMemoryTimeLogRepository {
  override async find(...asked: Asked): Promise<TimeLogPage> {
    const { logs } = await super.find(...asked);
    return { logs, total: logs.length };
  }
}

class Blabs extends InMemoryTimeLogRepository {
  override get(id: string): Promise<TimeLog | undefined> {
    return super.get(id, ALL_PROJECTS);
  }
}

class ForgetsKeys extends InMemoryTimeLogRepository {
  override async addOnce(log: TimeLog): Promise<string> {
    await this.add(log);
    return log.id;
  }
}

class StoresAPart extends InMemoryTimeLogRepository {
  override async addAll(logs: readonly TimeLog[]): Promise<void> {
    for (const log of logs) await this.add(log);
  }
}

class MakesWhatItCorrects extends InMemoryTimeLogRepository {
  override async correct(...change: Correction): Promise<TimeLog> {
    const corrected = await super.correct(...change);
    if (!corrected) await this.add(change[0]);
    return corrected ?? change[0];
  }
}

class ComparesNothing extends InMemoryTimeLogRepository {
  override correct(log: TimeLog, access: ProjectAccess): Promise<TimeLog | undefined> {
    return super.correct(log, access);
  }
}

class ForgetsAttributes extends InMemoryTimeLogRepository {
  override async correct(log: TimeLog, access: ProjectAccess): Promise<TimeLog | undefined> {
    return super.correct(log, access, undefined, await super.get(log.id, access));
  }
}

class ForgetsHooks extends InMemoryTimeLogRepository {
  override replaced(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}

class Silent extends InMemoryTimeLogRepository {
  /** Tells nobody. */
  protected override recorded(): void {
    return;
  }
}

describe('the contract of a repository', () => {
  it.each([
    [OldestFirst, 'orders by date, newest first, whatever the order in which they were added'],
    [CountsThePage, 'pages of 3 items hold each log exactly once, with the total on each'],
    [Blabs, 'within an access does not get, correct or delete a log of another project'],
    [ForgetsKeys, 'adds a log once per key and returns the id of the first log to retries'],
    [StoresAPart, 'adds a batch as a whole or not at all'],
    [MakesWhatItCorrects, 'corrects a log but never creates one'],
    [ComparesNothing, 'changes a log only if it has the expected values of which date may differ'],
    [ForgetsHooks, 'keeps the values of a hook with their key, but compares those that were sent'],
    [Silent, 'calls listeners after it has stored a log'],
  ])('fails an adapter that is wrong: %p', async (Adapter, name) => {
    const cases = timeLogRepositoryContract({ make: () => new Adapter() });
    await expect(cases.find((one) => one.name === name)!.run()).rejects.toThrow();
  });

  it('fails an adapter that removes attributes which a correction lacks', async () => {
    const cases = timeLogAttributesContract({ make: () => new ForgetsAttributes() });
    const name = 'keeps attributes that a correction without an expected log lacks';
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
    expect(cases.length).toBeGreaterThan(100);
    for (const one of cases.toReversed()) await one.run();
  });
});
