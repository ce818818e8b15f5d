import type pg from 'pg';
import type { ProgressLine } from '../../../src/commands/progress-line.js';
import { logsQuery, sizeName, type Spread } from './data-set.js';

/** What to seed, and where to say how far it is. */
export interface Seeding {
  readonly spread: Spread;
  readonly size: number;
  readonly progress: ProgressLine;
  readonly signal: AbortSignal;
}

/** Logs of one statement. Smaller ones would write the counts more often, which then take more room. */
const CHUNK = 100_000;

/** Fills an empty table with the logs of a data set, and has PostgreSQL look at them. */
export async function seed(
  client: pg.Client,
  columns: string,
  { spread, size, progress, signal }: Seeding,
): Promise<void> {
  const insert = `insert into time_logs (${columns}) select ${columns} from (${logsQuery(spread, size)}) logs`;
  const start = performance.now();
  for (let first = 1; first <= size; first += CHUNK) {
    signal.throwIfAborted();
    const last = Math.min(first + CHUNK - 1, size);
    await client.query(insert, [first, last]);
    progress.show(`seeding ${sizeName(size)}: ${howFar(last, size, performance.now() - start)}`);
  }
  progress.show(`seeded ${sizeName(size)}: vacuum and analyze`);
  await client.query('vacuum analyze');
  // Else the server would do it in the middle of a round. Not every user may ask for it.
  await client.query('checkpoint').catch(() => undefined);
  progress.end();
}

/** Such as "42 %, 81000 logs/s, 3 min 34 s left". */
function howFar(done: number, size: number, milliseconds: number): string {
  const perSecond = Math.round((done * 1_000) / milliseconds);
  const left = Math.round(((size - done) / done) * (milliseconds / 1_000));
  const time = left < 60 ? `${left} s` : `${Math.floor(left / 60)} min ${left % 60} s`;
  return `${Math.floor((done / size) * 100)} %, ${perSecond} logs/s, ${time} left`;
}
