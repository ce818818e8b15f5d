import { format } from 'node:util';
import type { FeedRepository } from '../../feed/index.js';
import type { TotalsRepository } from '../../totals/index.js';
import type { TimeLogRepository } from '../domain/time-log.repository.js';
import type { TimeLog, TimeLogValues } from '../domain/time-log.js';

/** One thing that a repository must do. */
export interface ContractCase {
  readonly name: string;
  /** Rejects where the repository does not. */
  run(): Promise<void>;
}

/** What the cases are run on. */
export interface ContractOptions<Logs extends TimeLogRepository = TimeLogRepository> {
  /** Returns a repository that is empty, and shares nothing with those that it returned before. */
  readonly make: () => Logs | Promise<Logs>;
  /** Returns the totals of its logs. Without it there are no cases of totals. */
  readonly totalsOf?: (logs: Logs) => TotalsRepository;
  /** Returns the feed of its logs. Without it there are no cases of the feed. */
  readonly feedOf?: (logs: Logs) => FeedRepository;
}

/** What cases are about: a repository that they share, its totals if it has any, and how to make logs for it. */
export interface ContractSubject {
  readonly repository: () => TimeLogRepository;
  readonly totals: (() => TotalsRepository) | undefined;
  /** A log with an id greater than all before it. */
  readonly newLog: (values?: Partial<TimeLogValues>) => TimeLog;
}

/** Collects cases as a runner of tests would, but runs none. */
export class ContractSuite {
  readonly cases: ContractCase[] = [];
  private readonly names: string[] = [];
  private steps: readonly (() => Promise<void>)[] = [];

  /** The cases that `fill` adds have this name before their own. */
  describe(name: string, fill: () => void): void {
    const { steps } = this;
    this.names.push(name);
    fill();
    this.names.pop();
    this.steps = steps;
  }

  /** Has each case that follows in this group wait for a step, which the first of them takes. */
  before(step: () => Promise<void>): void {
    let taken: Promise<void> | undefined;
    this.steps = [...this.steps, () => (taken ??= step())];
  }

  it(name: string, test: () => unknown): void {
    const { steps } = this;
    this.cases.push({
      name: [...this.names, name].join(' '),
      run: async () => {
        for (const step of steps) await step();
        await test();
      },
    });
  }

  /** A case for each row, or value; the name has its members in the places of `%s`. */
  each<Row extends [unknown, ...unknown[]]>(
    rows: readonly Row[],
    name: string,
    test: (...row: Row) => unknown,
  ): void;
  each<Value>(values: readonly Value[], name: string, test: (value: Value) => unknown): void;
  each(rows: readonly unknown[], name: string, test: (...row: unknown[]) => unknown): void {
    const places = name.match(/%s/g)?.length ?? 0;
    for (const row of rows) {
      const members: unknown[] = Array.isArray(row) ? row : [row];
      this.it(format(name, ...members.slice(0, places)), () => test(...members));
    }
  }
}
