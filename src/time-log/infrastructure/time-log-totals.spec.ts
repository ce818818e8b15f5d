import { describe, expect, it } from '@jest/globals';
import type { Database } from '../../database/index.js';
import { type Gate, newGate } from '../../../test/support/gate.js';
import { ALL_PROJECTS } from '../domain/access.js';
import { Page } from '../domain/page.js';
import { Period } from '../domain/period.js';
import { TimeLogTotals } from './time-log-totals.js';

/** Milliseconds, as a request and a statement have them by default. */
const DEADLINE = 2_500;
const STATEMENT = 1_500;

describe('totals by project', () => {
  it('begin in time to be answered, or not at all', async () => {
    let now = 0;
    const statements: Gate[] = [];
    const database = {
      routine: (name: string) => name,
      query: () => {
        const gate = newGate();
        statements.push(gate);
        return gate.opened.then(() => [['1', '1', '0']]);
      },
    } as unknown as Database;
    const totals = new TimeLogTotals(database, { queue: 10, wait: DEADLINE }, () => now);
    const ask = () => totals.of({ period: Period.of() }, 'project', Page.of(1, 50), ALL_PROJECTS);

    const first = ask();
    const late = ask();
    now = 2 * STATEMENT - DEADLINE;
    const inTime = ask();
    now = STATEMENT;
    statements[0]!.open();
    expect(await first).toMatchObject({ whole: { count: 1 } });
    statements[1]!.open();
    await expect(late).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await inTime).toMatchObject({ whole: { count: 1 } });
  });
});
