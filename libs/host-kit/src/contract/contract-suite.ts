import { format } from 'node:util';
import type { ExportedLogs, ExportRepository } from '../../../../src/export/index.js';
import type { FeedRepository } from '../../../../src/feed/index.js';
import type { TotalsRepository } from '../../../../src/totals/index.js';
import type { TimeLogPage, TimeLogRepository } from '../../../../src/time-log/index.js';

/** One requirement on a repository, as a test. */
export interface ContractCase {
  readonly name: string;
  /** Rejects if the repository does not meet it. */
  run(): Promise<void>;
}

/** The repositories that the cases test. */
export interface ContractOptions<Logs extends TimeLogRepository = TimeLogRepository> {
  /** Returns an empty repository that shares nothing with earlier ones. */
  readonly make: () => Logs | Promise<Logs>;
  /** Returns the totals of its logs. Without it, cases of totals are left out. */
  readonly totalsOf?: (logs: Logs) => TotalsRepository;
  /** Returns the feed of its logs. Without it, cases of the feed are left out. */
  readonly feedOf?: (logs: Logs) => FeedRepository;
  /** Returns the exports of its logs. Without it, cases of exports are left out. */
  readonly exportOf?: (logs: Logs) => ExportRepository;
}

/** The repository that cases share, and the totals and exports of its logs if it has any. */
export interface ContractSubject {
  readonly repository: () => TimeLogRepository;
  readonly totals: (() => TotalsRepository) | undefined;
  readonly exports: (() => ExportRepository) | undefined;
}

/** Collects cases with the functions of a test runner, but does not run them. */
export class ContractSuite {
  readonly cases: ContractCase[] = [];
  private readonly names: string[] = [];
  private steps: readonly (() => Promise<void>)[] = [];

  /** Prefixes the names of the cases that `fill` adds. */
  describe(name: string, fill: () => void): void {
    const { steps } = this;
    this.names.push(name);
    fill();
    this.names.pop();
    this.steps = steps;
  }

  /** Adds a step that runs once, before the first of the following cases in this group. */
  before(step: () => Promise<void>): void {
    let done: Promise<void> | undefined;
    this.steps = [...this.steps, () => (done ??= step())];
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

  /** Adds a case for each row or value, which replaces `%s` in the name. */
  each<Row extends [unknown, ...unknown[]]>(
    rows: readonly Row[],
    name: string,
    test: (...row: Row) => unknown,
  ): void;
  each<Value>(values: readonly Value[], name: string, test: (value: Value) => unknown): void;
  each(rows: readonly unknown[], name: string, test: (...row: unknown[]) => unknown): void {
    const placeholders = name.match(/%s/g)?.length ?? 0;
    for (const row of rows) {
      const members: unknown[] = Array.isArray(row) ? row : [row];
      this.it(format(name, ...members.slice(0, placeholders)), () => test(...members));
    }
  }
}

/** Finds a page and returns it as a plain object, whatever its class. */
export async function find(
  repository: TimeLogRepository,
  ...query: Parameters<TimeLogRepository['find']>
): Promise<TimeLogPage> {
  const { logs, total } = await repository.find(...query);
  return { logs, total };
}

/** Returns the text of an export. */
export async function textOf({ content }: ExportedLogs): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts).toString();
}
