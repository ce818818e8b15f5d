import { type AnsweredLog, type IntendedLog, Ledger, type Outcome } from '../faults/support/ledger.js';
import { Writers } from '../faults/support/writers.js';
import { TOKEN } from './fleet.js';

/** Milliseconds that each writer waits after an acknowledged create. */
const PACE = 25;

/** A ledger that knows when each create was acknowledged, and how many failed. */
class TimedLedger extends Ledger {
  failed = 0;
  readonly times: number[] = [];

  override settle(log: IntendedLog, outcome: Outcome, took: number): void {
    super.settle(log, outcome, took);
    if (outcome.kind === 'acknowledged') this.times.push(performance.now());
    else this.failed++;
  }
}

/** Writers of one kind. */
class Client {
  readonly ledger = new TimedLedger();
  readonly writers: Writers;

  constructor(port: number, areKeyed: boolean) {
    this.writers = new Writers({ token: TOKEN, ledger: this.ledger, count: 4, areKeyed, pace: PACE });
    this.writers.aim(port);
    this.writers.start();
  }
}

/** What a fault did to the clients. */
export interface Effect {
  readonly failedWithKeys: number;
  readonly failedWithout: number;
  readonly acknowledged: number;
  /** Seconds: the longest time in which no create was acknowledged. */
  readonly secondsWithout: number;
}

/** Those who send each create with a key, until it is acknowledged; and those who send it once. */
export class Clients {
  readonly withKeys: Client;
  readonly without: Client;

  constructor(port: number) {
    this.withKeys = new Client(port, true);
    this.without = new Client(port, false);
  }

  get ledgers(): readonly TimedLedger[] {
    return [this.withKeys.ledger, this.without.ledger];
  }

  /** All logs that were acknowledged, by description. */
  get acknowledged(): Map<string, AnsweredLog> {
    return new Map(this.ledgers.flatMap((ledger) => [...ledger.acknowledged]));
  }

  /** Does something to the fleet, waits until both kinds write again, and tells what they saw. */
  async through(act: () => Promise<void>): Promise<Effect> {
    const begun = performance.now();
    const [keyed, plain] = this.ledgers.map(({ failed }) => failed) as [number, number];
    const before = this.acknowledged.size;
    await act();
    for (const { writers } of [this.withKeys, this.without]) await writers.acknowledge(50, 120_000);
    const times = this.ledgers
      .flatMap(({ times }) => times)
      .filter((time) => time >= begun)
      .sort((one, other) => one - other);
    const gaps = times.map((time, index) => time - (times[index - 1] ?? begun));
    return {
      failedWithKeys: this.withKeys.ledger.failed - keyed,
      failedWithout: this.without.ledger.failed - plain,
      acknowledged: this.acknowledged.size - before,
      secondsWithout: Math.max(...gaps) / 1_000,
    };
  }

  async stop(): Promise<void> {
    await Promise.all([this.withKeys.writers.stop(), this.without.writers.stop()]);
  }
}
