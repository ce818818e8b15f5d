import { isDeepStrictEqual } from 'node:util';
import type { DataSet } from './data-set.js';
import type { Order, Outcome } from './drive.js';
import type { Driver } from './driver.js';
import { type Load, type LoadName, loadOf } from './loads.js';
import { measureProcess } from './measure.js';
import type { Options } from './options.js';
import { makeToken, type Program } from './program.js';
import type { Measurement, Round } from './results.js';
import type { Server } from './server.js';

/** Connections of a create. */
const WRITERS = 64;
/** Seconds. */
const PATIENCE = 60;
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
  readonly programs: readonly Program[];
  readonly data: DataSet;
  readonly options: Pick<Options, 'connections' | 'seconds' | 'rounds'>;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Puts one load on each program in turn, in an order that rotates from round to round. */
export async function compare(bench: Bench, name: LoadName): Promise<Measurement[]> {
  const { data, options, log } = bench;
  const load = await forItsCaller(loadOf(name, data), data);
  const programs = bench.programs.filter((program) => !load.isOurs || program.name === 'service');
  if (load.path !== undefined) await expectSameAnswers({ ...bench, programs }, name, load.path);
  for (const program of programs) await runRound(bench, name, load, program);
  const measurements = programs.map((program) => ({ program, rounds: [] as Round[] }));
  for (let round = 0; round < options.rounds; round++) {
    for (let turn = 0; turn < programs.length; turn++) {
      const { program, rounds } = measurements[(round + turn) % programs.length]!;
      const found = await runRound(bench, name, load, program);
      rounds.push(found);
      log(`${name}, round ${round + 1}, ${program.name}: ${Math.round(found.perSecond)} requests/s`);
    }
  }
  return measurements.map(({ program, rounds }) => ({
    size: data.size,
    load: name,
    program: program.name,
    rounds,
  }));
}

/** Where a load is that of a caller of some projects, it has a token of its own. */
async function forItsCaller(load: Load, { serviceUrl }: DataSet): Promise<Load> {
  if (load.projects === undefined) return load;
  const token = await makeToken(serviceUrl, load.projects);
  return { ...load, requests: () => load.requests(token) };
}

async function runRound(
  { server, driver, options }: Bench,
  name: LoadName,
  load: Load,
  { pid, port, token }: Program,
): Promise<Round> {
  const order: Order = {
    port,
    connections: load.isAlone ? 1 : load.status === 201 ? WRITERS : options.connections,
    requests: load.requests(token),
    status: load.status,
    seconds: options.seconds,
    patience: PATIENCE,
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
    // What goes wrong in the run-up counts, too: if it was not finished, the figures of the round are marked.
    unfinished: runUp.unfinished + outcome.unfinished,
    failures: sumOf(runUp.failures, outcome.failures),
    cpu: each(before?.cpu, after?.cpu),
    databaseCpu: each(databaseBefore, databaseAfter),
    memory: after?.memory,
  };
}

function sumOf(some: Outcome['failures'], others: Outcome['failures']): Outcome['failures'] {
  const sums = { ...some };
  for (const [failure, count] of Object.entries(others)) sums[failure] = (sums[failure] ?? 0) + count;
  return sums;
}

/** Only programs that answer the same can be compared. A refusal shows in the measured rounds. */
async function expectSameAnswers(
  { programs, log, signal }: Bench,
  name: LoadName,
  path: string,
): Promise<void> {
  const answers: { name: string; body: unknown }[] = [];
  for (const program of programs) {
    const response = await fetch(`http://127.0.0.1:${program.port}${path}`, {
      headers: { authorization: `Bearer ${program.token}` },
      signal,
    });
    const body: unknown = await response.json();
    if (response.ok) answers.push({ name: program.name, body });
    else log(`${name}: ${program.name} answers ${response.status}`);
  }
  const [first, ...others] = answers;
  for (const { name: other, body } of others) {
    if (!isDeepStrictEqual(body, first!.body)) {
      throw new Error(`${name}: ${first!.name} and ${other} answer ${path} differently`);
    }
  }
}
