import { DomainError } from '../../errors/src/index.js';
import { stateOf } from './request-state.js';

/**
 * Waits for work on behalf of a request. All waits of a request share one deadline, which does not
 * include the time in which the client sends the request. Rejects with DomainError
 * SERVICE_UNAVAILABLE when the deadline passes. The work then continues within its own limits, and
 * its result is dropped. A request without a deadline waits without a limit.
 */
export function withinDeadline<T>(request: object, work: Promise<T>): Promise<T> {
  const state = stateOf(request);
  const { remainingWaitMs } = state;
  if (remainingWaitMs === undefined) return work;
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      state.remainingWaitMs = 0;
      reject(new DomainError('SERVICE_UNAVAILABLE'));
    }, remainingWaitMs);
    const end = () => {
      clearTimeout(timer);
      state.remainingWaitMs = remainingWaitMs - (performance.now() - start);
    };
    // Before `resolve`, so that the caller continues with the remaining time.
    work.then(end, end);
    work.then(resolve, reject);
  });
}

/** Returns whether the deadline of a request has passed, so that its response is not needed. */
export function isOverdue(request: object): boolean {
  const { remainingWaitMs } = stateOf(request);
  return remainingWaitMs !== undefined && remainingWaitMs <= 0;
}
