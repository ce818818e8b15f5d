import { randomUUID } from 'node:crypto';

/** A log that a writer wants to have recorded; its description is unlike any other's. */
export interface IntendedLog {
  readonly projectId: string;
  readonly duration: number;
  readonly description: string;
  readonly date: string;
}

/** A log as the service answered it. */
export interface AnsweredLog extends IntendedLog {
  readonly id: string;
  readonly createdAt: string;
}

/** The outcome of a create: certainly recorded, refused with 503, or without an answer. */
export type Outcome =
  | { readonly kind: 'acknowledged'; readonly log: AnsweredLog }
  | { readonly kind: 'refused' | 'cut' }
  | { readonly kind: 'unexpected'; readonly what: string };

const DATES = ['0001-01-01', '2011-12-30', '2024-02-29', '2026-03-08', '9999-12-31'];

/** The creates of the clients of a service, from first to last, with their outcomes. */
export class Ledger {
  readonly acknowledged = new Map<string, AnsweredLog>();
  /** Answered 503 or not at all: such a log may be in the table, once. */
  readonly unknown = new Map<string, 'refused' | 'cut'>();
  /** Answers that no fault excuses. */
  readonly unexpected: string[] = [];
  /** Descriptions of the creates that have left their client and are not answered yet. */
  readonly inFlight = new Set<string>();
  private readonly projects: readonly string[];
  private readonly begun = new Set<string>();

  /** Creates are for a number of projects in rotation. Each has a number of logs: several are a batch. */
  constructor(
    projects = 1,
    readonly batch = 1,
  ) {
    this.projects = Array.from({ length: projects }, () => randomUUID());
  }

  /** A new log to be recorded. */
  intend(): IntendedLog {
    const number = this.begun.size;
    const description = `${this.projects[0]} ${number}`;
    this.begun.add(description);
    return {
      projectId: this.projects[number % this.projects.length]!,
      duration: (number % 97) / 8 + 0.1,
      description,
      date: DATES[number % DATES.length]!,
    };
  }

  /** The new logs of a create. */
  intendAll(): [IntendedLog, ...IntendedLog[]] {
    return [this.intend(), ...Array.from({ length: this.batch - 1 }, () => this.intend())];
  }

  /** Descriptions of which each is of a batch that lacks others of its logs. */
  partsOf(stored: ReadonlySet<string>): string[] {
    const begun = [...this.begun];
    return begun.filter((description, index) => {
      const first = index - (index % this.batch);
      const whole = begun.slice(first, first + this.batch);
      return stored.has(description) && !whole.every((one) => stored.has(one));
    });
  }

  /** Notes the outcome of a create; that of a repeated one replaces what was not known before. */
  settle({ description }: IntendedLog, outcome: Outcome): void {
    this.inFlight.delete(description);
    if (outcome.kind === 'acknowledged') {
      this.unknown.delete(description);
      this.acknowledged.set(description, outcome.log);
    } else if (outcome.kind === 'unexpected') this.unexpected.push(outcome.what);
    else this.unknown.set(description, outcome.kind);
  }

  /** Whether a client has ever sent a log of this description. */
  knows(description: string): boolean {
    return this.begun.has(description);
  }

  /** How many creates were answered 503, or not at all. */
  count(kind: 'refused' | 'cut'): number {
    return [...this.unknown.values()].filter((outcome) => outcome === kind).length;
  }
}
