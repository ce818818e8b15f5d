import { appendFile } from 'node:fs/promises';

/** The counts of one fault that was injected. */
export interface Counts {
  readonly kills?: number;
  /** Kills in whose moment a create had been sent that was never answered. */
  readonly killsInFlight?: number;
  readonly acknowledged?: number;
  readonly refused?: number;
  readonly cut?: number;
  readonly storedUnanswered?: number;
  readonly lost?: number;
  readonly doubled?: number;
  readonly unexpected?: number;
  /** Logs whose events were looked for, and events that came more than once. */
  readonly events?: number;
  readonly repeats?: number;
  /** Milliseconds of the slowest answer to a create. */
  readonly slowest?: number;
}

/** Adds counts to those that the run's last line tells (survival-reporter.mjs). */
export async function count(counts: Counts): Promise<void> {
  const file = process.env.FAULTS_TALLY;
  if (file !== undefined) await appendFile(file, `${JSON.stringify(counts)}\n`);
}
