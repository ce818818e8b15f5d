import { isDeepStrictEqual } from 'node:util';
import type { PostgresCluster } from '../../support/postgres-cluster.js';
import { drive, type Outcome } from './drive.js';
import type { Load } from './loads.js';
import { calm, forgetPeak, measureProcess, measureServer } from './measure.js';
import type { Program } from './program.js';

/** Seconds to wait for unfinished requests. */
const DRAIN_SECONDS = 60;
/**
 * Seconds of the load at the beginning of a turn, which do not count. The order rotates, so a program waits longer for
 * one turn than for another. After 12 s or more a request of `idiomatic` cost up to four times as much for half a
 * second.
 */
const RUN_UP = 1;

/** One round of one program. */
export interface Round extends Outcome {
  /** Microseconds for each request of the program, and of all PostgreSQL. */
  readonly cpu: number;
  readonly databaseCpu: number;
  /** Bytes that the program has held at most in this round, and how many more than at its beginning. */
  readonly peak: number;
  readonly more: number;
}

/** Puts a load on a program, after a run-up. */
export async function runRound(
  server: PostgresCluster,
  seconds: number,
  load: Load,
  { pid, port, token }: Program,
): Promise<Round> {
  const { connections, status } = load;
  const requests = load.requests(token);
  const order = { port, connections, requests, status, seconds, drainSeconds: DRAIN_SECONDS };
  const runUp = await drive({ ...order, seconds: RUN_UP });
  await calm(server, runUp.unfinished > 0);
  await forgetPeak(pid);
  const [before, databaseBefore] = [await measureProcess(pid), await measureServer(server)];
  const outcome = await drive(order);
  const [after, databaseAfter] = [await measureProcess(pid), await measureServer(server)];
  await calm(server, outcome.unfinished > 0);
  const count = outcome.answered + outcome.unfinished;
  return {
    ...outcome,
    // Errors of the run-up count, too.
    unfinished: runUp.unfinished + outcome.unfinished,
    failures: { ...runUp.failures, ...outcome.failures },
    cpu: (after.cpu - before.cpu) / count,
    databaseCpu: (databaseAfter - databaseBefore) / count,
    peak: after.peak,
    more: after.peak - before.memory,
  };
}

/** Only programs that answer the same can be compared. */
export async function expectSameAnswers(programs: readonly Program[], path: string): Promise<void> {
  const answers = await Promise.all(
    programs.map(async ({ port, token }) => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
      return response.json();
    }),
  );
  for (const [index, answer] of answers.entries())
    if (!isDeepStrictEqual(answer, answers[0]))
      throw new Error(`${programs[0]!.name} and ${programs[index]!.name} answer ${path} differently`);
}

/** The median of a figure of several rounds. */
export function medianOf(rounds: readonly Round[], figure: Exclude<keyof Round, 'failures'>): number {
  const sorted = rounds.map((round) => round[figure]).toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
}
