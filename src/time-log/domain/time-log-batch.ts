import { DomainError } from '../../../libs/errors/src/domain-error.js';
import { VALUE_NAMES } from './time-log.js';

/** The maximum number of messages in an error. */
const MAX_MESSAGES = 10;
const STARTS_WITH_FIELD = new RegExp(`^(?:${VALUE_NAMES.join('|')})\\b`);

/** Returns the error messages of a log with its place in a batch: `timeLogs[3].duration must be …`. */
export function faultsAt(index: number, faults: readonly string[]): string[] {
  return faults.map((fault) => `timeLogs[${index}]${STARTS_WITH_FIELD.test(fault) ? '.' : ': '}${fault}`);
}

/** Returns the error of a batch with these messages. The log has `logged` instead of them. */
export function batchError(faults: readonly string[], logged: readonly string[] = faults): DomainError {
  return new DomainError('VALIDATION_ERROR', joined(faults), { logged: joined(logged) });
}

function joined(faults: readonly string[]): string {
  const more = faults.length - MAX_MESSAGES;
  return [...faults.slice(0, MAX_MESSAGES), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
