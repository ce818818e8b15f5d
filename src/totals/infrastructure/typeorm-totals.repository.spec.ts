import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Database } from '../../database/index.js';
import { type Gate, newGate } from '../../../test/support/gate.js';
import { ALL_PROJECTS } from '../../time-log/domain/time-log-access.js';
import { PageRequest } from '../../time-log/domain/page-request.js';
import { Period } from '../../time-log/domain/period.js';
import type { Grouping } from '../domain/totals.js';
import { CostlyReads } from '../../time-log/infrastructure/costly-reads.js';
import type { TimeLogSweep } from '../../time-log/infrastructure/time-log-sweep.js';
import { TypeOrmTotalsRepository } from './typeorm-totals.repository.js';

/** The default limits of a request and of a statement. */
const DEADLINE_MS = 2_500;
const STATEMENT_TIMEOUT_MS = 1_500;
const [ONE, OTHER] = ['0b000000-0000-4000-8000-000000000001', '0b000000-0000-4000-8000-000000000002'];
const YEAR = Period.of('2026-01-01', '2026-12-31');
const unavailable = { code: 'SERVICE_UNAVAILABLE' };

describe('sums', () => {
  let statements: Gate[];
  let repository: TypeOrmTotalsRepository;

  beforeEach(() => {
    jest.useFakeTimers();
    statements = [];
    const database = {
      routine: (name: string) => name,
      query: async () => {
        const gate = newGate();
        statements.push(gate);
        await gate.opened;
        return [['1', '1', '0']];
      },
    } as unknown as Database;
    const costlyReads = new CostlyReads(database, () => 1, DEADLINE_MS);
    const sweep = { begin: () => undefined } as Partial<TimeLogSweep> as TimeLogSweep;
    repository = new TypeOrmTotalsRepository({ database, costlyReads, sweep });
  });

  afterEach(() => void jest.useRealTimers());

  const ask = async (by: Grouping | undefined, period: Period, access: readonly string[] | 'all' = [ONE]) => {
    const totals = repository.totals({ period }, by, PageRequest.of(1, 50), access, 'caller');
    await jest.advanceTimersByTimeAsync(0);
    return { totals };
  };
  const MANY = Array.from({ length: 100 }, (_, index) => ONE.slice(0, -2) + String(index).padStart(2, '0'));

  it.each<[Grouping | undefined, Period, readonly string[] | 'all']>([
    [undefined, Period.of(), [ONE]],
    [undefined, Period.of(), ALL_PROJECTS],
    [undefined, YEAR, [ONE, OTHER]],
    ['project', Period.of(), [ONE]],
    ['project', YEAR, [ONE, OTHER]],
    ['day', Period.of('2026-01-01', '2026-01-31'), [ONE]],
    ['month', YEAR, [ONE]],
    ['month', YEAR, ALL_PROJECTS],
    ['week', YEAR, [ONE, OTHER]],
    ['project,month', YEAR, [ONE, OTHER]],
  ])('do not wait if they are cheap: by %s, %j, projects %j', async (by, period, access) => {
    await ask('day', Period.of());
    await ask(by, period, access);
    expect(statements).toHaveLength(2);
  });

  it.each<[Grouping | undefined, Period, readonly string[] | 'all']>([
    [undefined, Period.of(), [ONE, OTHER]],
    ['project', Period.of(), [ONE, OTHER]],
    ['day', Period.of(), [ONE]],
    ['day', Period.of('2026-01-01'), [ONE]],
    ['month', Period.of(undefined, '2026-12-31'), ALL_PROJECTS],
    ['month', YEAR, MANY],
    ['project,day', YEAR, MANY],
    // The number of all projects is unknown.
    ['project', YEAR, ALL_PROJECTS],
    ['project,month', YEAR, ALL_PROJECTS],
  ])('wait if they are costly: by %s, %j, projects %j', async (by, period, access) => {
    await ask('day', Period.of());
    await ask(by, period, access);
    expect(statements).toHaveLength(1);
  });

  it('start only if they can be answered in time', async () => {
    const first = await ask('project', Period.of(), ALL_PROJECTS);
    const late = await ask('project', Period.of(), ALL_PROJECTS);
    const refused = expect(late.totals).rejects.toMatchObject(unavailable);
    await jest.advanceTimersByTimeAsync(2 * STATEMENT_TIMEOUT_MS - DEADLINE_MS);
    const inTime = await ask('day', Period.of());
    await jest.advanceTimersByTimeAsync(DEADLINE_MS - STATEMENT_TIMEOUT_MS - 1);
    await refused;
    statements[0]!.open();
    expect(await first.totals).toMatchObject({ whole: { count: 1 } });
    await jest.advanceTimersByTimeAsync(0);
    statements[1]!.open();
    expect(await inTime.totals).toMatchObject({ whole: { count: 1 } });
  });
});
