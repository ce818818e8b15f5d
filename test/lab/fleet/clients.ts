import { type AnsweredLog, type IntendedLog, Ledger, type Outcome } from '../faults/support/ledger.js';
import { TOKEN } from '../faults/support/service-under-writes.js';
import { Writers } from '../faults/support/writers.js';
import type { Fleet } from './fleet.js';

/** Milliseconds that each writer waits after an acknowledged create. */
const PACE = 25;

/** A ledger that counts outcomes, those of repeats included. */
class CountingLedger extends Ledger {
  /** Creates that were answered 503, and those whose connection was closed without an answer. */
  seen = { refused: 0, closed: 0 };

  constructor(private readonly acknowledgedAt: number[]) {
    super();
  }

  override settle(log: IntendedLog, outcome: Outcome): void {
    super.settle(log, outcome);
    if (outcome.kind === 'acknowledged') this.acknowledgedAt.push(performance.now());
    if (outcome.kind === 'refused') this.seen.refused++;
    if (outcome.kind === 'cut') this.seen.closed++;
  }
}

/** The effect of a fault on clients that did not notice it. */
export const UNNOTICED = { refused: 0, closed: 0 };

/** Those who send each create with a key, until it is acknowledged; and those who send it once. */
export class Clients {
  /** The times of acknowledged creates. */
  private readonly times: number[] = [];
  readonly ledgers = [new CountingLedger(this.times), new CountingLedger(this.times)] as const;
  readonly withKeys: Writers;
  readonly without: Writers;

  constructor({ ca, port, stops }: Fleet) {
    const options = { token: TOKEN, count: 4, pace: PACE, ca };
    this.withKeys = new Writers({ ...options, ledger: this.ledgers[0], areKeyed: true });
    this.without = new Writers({ ...options, ledger: this.ledgers[1] });
    for (const writers of [this.withKeys, this.without]) {
      writers.aim(port);
      writers.start();
    }
    stops.push(() => this.stop());
  }

  /** All logs that were acknowledged, by description. */
  get acknowledged(): Map<string, AnsweredLog> {
    return new Map(this.ledgers.flatMap((ledger) => [...ledger.acknowledged]));
  }

  /** Injects a fault, waits until both kinds of clients write again, and returns the effect. */
  async through(act: () => Promise<void>) {
    for (const ledger of this.ledgers) ledger.seen = { ...UNNOTICED };
    this.times.splice(0, Infinity, performance.now());
    await act();
    for (const writers of [this.withKeys, this.without]) await writers.acknowledge(50);
    const gaps = this.times.slice(1).map((time, index) => time - this.times[index]!);
    const [withKeys, without] = this.ledgers.map(({ seen }) => seen);
    /** The longest time in which no create was acknowledged. */
    const secondsWithout = Math.max(...gaps) / 1_000;
    return { withKeys, without, acknowledged: gaps.length, secondsWithout };
  }

  async stop(): Promise<void> {
    await Promise.all([this.withKeys.stop(), this.without.stop()]);
  }
}
