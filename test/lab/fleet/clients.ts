import { type AnsweredLog, type IntendedLog, Ledger, type Outcome } from '../faults/support/ledger.js';
import { Writers } from '../faults/support/writers.js';
import { TOKEN } from '../faults/support/service-under-writes.js';
import type { Fleet } from './fleet.js';

/** Milliseconds that each writer waits after an acknowledged create. */
const PACE = 25;

/** A ledger that knows when each create was acknowledged, and how many failed, repeats included. */
class TimedLedger extends Ledger {
  /** Not answered: the connection was closed. */
  closed = 0;
  readonly times: number[] = [];
  /** Answered 503. */
  refused = 0;

  override settle(log: IntendedLog, outcome: Outcome): void {
    super.settle(log, outcome);
    if (outcome.kind === 'acknowledged') this.times.push(performance.now());
    else if (outcome.kind === 'refused') this.refused++;
    else if (outcome.kind === 'cut') this.closed++;
  }

  get failures(): Failures {
    return { refused: this.refused, closed: this.closed };
  }
}

/** Writers of one kind. */
class Client {
  readonly ledger = new TimedLedger();
  readonly writers: Writers;

  constructor({ ca, port }: Fleet, areKeyed: boolean) {
    this.writers = new Writers({ token: TOKEN, ledger: this.ledger, count: 4, areKeyed, pace: PACE, ca });
    this.writers.aim(port);
    this.writers.start();
  }
}

/** Creates that were answered 503, and those whose connection was closed without an answer. */
interface Failures {
  readonly refused: number;
  readonly closed: number;
}

/** The effect of a fault on the clients. */
export interface Effect {
  readonly withKeys: Failures;
  readonly without: Failures;
  readonly acknowledged: number;
  /** Seconds: the longest time in which no create was acknowledged. */
  readonly secondsWithout: number;
}

/** The effect if no client noticed the fault. */
export const UNNOTICED = {
  withKeys: { refused: 0, closed: 0 },
  without: { refused: 0, closed: 0 },
};

/** Those who send each create with a key, until it is acknowledged; and those who send it once. */
export class Clients {
  readonly withKeys: Client;
  readonly without: Client;

  constructor(fleet: Fleet) {
    this.withKeys = new Client(fleet, true);
    this.without = new Client(fleet, false);
    fleet.stops.push(() => this.stop());
  }

  get ledgers(): readonly TimedLedger[] {
    return [this.withKeys.ledger, this.without.ledger];
  }

  /** All logs that were acknowledged, by description. */
  get acknowledged(): Map<string, AnsweredLog> {
    return new Map(this.ledgers.flatMap((ledger) => [...ledger.acknowledged]));
  }

  /** Injects a fault, waits until both kinds of clients write again, and returns the effect. */
  async through(act: () => Promise<void>): Promise<Effect> {
    const begun = performance.now();
    const [keyed, plain] = this.ledgers.map(({ failures }) => failures) as [Failures, Failures];
    const before = this.acknowledged.size;
    await act();
    for (const { writers } of [this.withKeys, this.without]) await writers.acknowledge(50);
    const all = this.ledgers.flatMap(({ times }) => times);
    const times = all.filter((time) => time >= begun).sort((one, other) => one - other);
    const gaps = times.map((time, index) => time - (times[index - 1] ?? begun));
    return {
      withKeys: difference(this.withKeys.ledger.failures, keyed),
      without: difference(this.without.ledger.failures, plain),
      acknowledged: this.acknowledged.size - before,
      secondsWithout: Math.max(...gaps) / 1_000,
    };
  }

  async stop(): Promise<void> {
    await Promise.all([this.withKeys.writers.stop(), this.without.writers.stop()]);
  }
}

function difference(now: Failures, before: Failures): Failures {
  return { refused: now.refused - before.refused, closed: now.closed - before.closed };
}
