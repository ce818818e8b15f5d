import { type AnsweredLog, type IntendedLog, Ledger, type Outcome } from '../faults/support/ledger.js';
import { TOKEN } from '../faults/support/service-under-writes.js';
import { Writers } from '../faults/support/writers.js';
import type { Fleet } from './fleet.js';

/** Milliseconds that each writer waits after an acknowledged create. */
const PACE = 25;

/** A ledger that knows when each create had which outcome, repeats included. */
class TimedLedger extends Ledger {
  private readonly outcomes: { readonly kind: Outcome['kind']; readonly at: number }[] = [];

  override settle(log: IntendedLog, outcome: Outcome): void {
    super.settle(log, outcome);
    this.outcomes.push({ kind: outcome.kind, at: performance.now() });
  }

  /** When creates had an outcome, from a moment on. */
  timesOf(kind: Outcome['kind'], begun: number): number[] {
    return this.outcomes.filter((one) => one.kind === kind && one.at >= begun).map(({ at }) => at);
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

  /** Creates since then that were answered 503, and those whose connection was closed without an answer. */
  failuresSince(begun: number) {
    const [refused, closed] = [this.ledger.timesOf('refused', begun), this.ledger.timesOf('cut', begun)];
    return { refused: refused.length, closed: closed.length };
  }
}

/** The effect of a fault on clients that did not notice it. */
export const UNNOTICED = { refused: 0, closed: 0 };

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
  async through(act: () => Promise<void>) {
    const begun = performance.now();
    await act();
    for (const { writers } of [this.withKeys, this.without]) await writers.acknowledge(50);
    const times = this.ledgers.flatMap((ledger) => ledger.timesOf('acknowledged', begun));
    const gaps = times
      .sort((one, other) => one - other)
      .map((time, index) => time - (times[index - 1] ?? begun));
    return {
      withKeys: this.withKeys.failuresSince(begun),
      without: this.without.failuresSince(begun),
      acknowledged: times.length,
      /** The longest time in which no create was acknowledged. */
      secondsWithout: Math.max(...gaps) / 1_000,
    };
  }

  async stop(): Promise<void> {
    await Promise.all([this.withKeys.writers.stop(), this.without.writers.stop()]);
  }
}
