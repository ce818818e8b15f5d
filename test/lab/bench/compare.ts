import { isDeepStrictEqual } from 'node:util';
import { storeToken } from '../tokens.js';
import type { DataSet } from './data-set.js';
import type { Order } from './drive.js';
import type { Driver } from './driver.js';
import { type Load, type LoadName, loadOf } from './loads.js';
import { measureProcess } from './measure.js';
import type { Options } from './options.js';
import type { Target } from './program.js';
import { type Measurement, type Round, sumOf } from './results.js';
import type { Server } from './server.js';

/** Connections of a create. */
const WRITERS = 64;
/** The time in seconds to wait for unfinished requests. */
const DRAIN_SECONDS = 60;
/**
 * Seconds of the load at the beginning of a turn, which do not count. The order rotates, so a program waits longer for
 * one turn than for another. After 12 s or more a request of `idiomatic` cost up to four times as much for half a
 * second.
 */
const RUN_UP = 1;

/** Everything that runs while a size is measured. */
export interface Bench {
  readonly server: Server;
  readonly driver: Driver;
  readonly programs: readonly Target[];
  readonly data: DataSet;
  readonly options: Pick<Options, 'connections' | 'seconds' | 'rounds'>;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Puts one load on each program in turn, in an order that rotates from round to round. */
export async function compare(bench: Bench, name: LoadName): Promise<Measurement[]> {
  const { data, options, log } = bench;
  let load = loadOf(name, data);
  // A load of a caller of some projects has a token of its own.
  if (load.projects !== undefined) {
    const requests = load.requests(await storeToken(data.serviceUrl, load));
    load = { ...load, requests: () => requests };
  }
  const programs = bench.programs.filter((program) => !load.isOurs || program.name === 'service');
  if (load.path !== undefined) await expectSameAnswers({ ...bench, programs }, name, load.path);
  for (const program of programs) await runRound(bench, load, program);
  const measurements = programs.map((program) => ({ program, rounds: [] as Round[] }));
  for (let round = 0; round < options.rounds; round++) {
    for (let turn = 0; turn < programs.length; turn++) {
      const { program, rounds } = measurements[(round + turn) % programs.length]!;
      const found = await runRound(bench, load, program);
      rounds.push(found);
      log(`${name}, round ${round + 1}, ${program.name}: ${Math.round(found.perSecond)} requests/s`);
    }
  }
  return measurements.map(({ program, rounds }) => {
    return { size: data.size, load: name, program: program.name, rounds };
  });
}

/** Puts a load on a program, after a run-up. */
export async function runRound(
  bench: Omit<Bench, 'programs' | 'data' | 'log'>,
  load: Load,
  program: Target,
): Promise<Round> {
  const { server, driver, options } = bench;
  const { pid, port, token } = program;
  const order: Order = {
    port,
    connections: load.isAlone ? 1 : load.status === 201 ? WRITERS : options.connections,
    requests: load.requests(token),
    status: load.status,
    seconds: options.seconds,
    drainSeconds: DRAIN_SECONDS,
  };
  const runUp = await driver.run({ ...order, seconds: RUN_UP });
  await server.calm(runUp.unfinished > 0);
  const [before, databaseBefore] = [await measureProcess(pid), await server.cpu()];
  const outcome = await driver.run(order);
  const [after, databaseAfter] = [await measureProcess(pid), await server.cpu()];
  await server.calm(outcome.unfinished > 0);
  const requests = outcome.answered + outcome.unfinished;
  const each = (from?: number, to?: number) =>
    from === undefined || to === undefined || requests === 0 ? undefined : (to - from) / requests;
  return {
    ...outcome,
    // Errors of the run-up count, too: if it was not finished, the figures of the round are flagged.
    unfinished: runUp.unfinished + outcome.unfinished,
    failures: sumOf([...Object.entries(runUp.failures), ...Object.entries(outcome.failures)]),
    cpu: each(before?.cpu, after?.cpu),
    databaseCpu: each(databaseBefore, databaseAfter),
    memory: after?.memory,
  };
}

/** Only programs that answer the same can be compared. A refusal shows in the measured rounds. */
async function expectSameAnswers(bench: Bench, name: LoadName, path: string): Promise<void> {
  const { programs, log, signal } = bench;
  const answers: { name: string; body: unknown }[] = [];
  for (const { name: program, port, token } of programs) {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers, signal });
    const body: unknown = await response.json();
    if (response.ok) answers.push({ name: program, body });
    else log(`${name}: ${program} answers ${response.status}`);
  }
  const [first, ...others] = answers;
  const other = others.find(({ body }) => !isDeepStrictEqual(body, first!.body));
  if (other) throw new Error(`${name}: ${first!.name} and ${other.name} answer ${path} differently`);
}
