import type pg from 'pg';
import { logsQuery, type Spread } from './data-set.js';

/** What to seed, and who is told how far it is. */
export interface Seeding {
  readonly spread: Spread;
  readonly size: number;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

const CHUNK = 100_000;

/** Fills an empty table with the logs of a data set, and has PostgreSQL look at them. */
export async function seed(
  client: pg.Client,
  columns: string,
  { spread, size, log, signal }: Seeding,
): Promise<void> {
  const insert = `insert into time_logs (${columns}) select ${columns} from (${logsQuery(spread, size)}) logs`;
  const start = Date.now();
  for (let first = 1; first <= size; first += CHUNK) {
    signal.throwIfAborted();
    const last = Math.min(first + CHUNK - 1, size);
    await client.query(insert, [first, last]);
    const perSecond = Math.round((last * 1_000) / (Date.now() - start));
    log(`${Math.floor((last / size) * 100)} % of ${size} logs seeded, ${perSecond} logs/s`);
  }
  await client.query('vacuum analyze');
  // Else the server would do it in the middle of a round. Not every user may ask for it.
  await client.query('checkpoint').catch(() => undefined);
}
