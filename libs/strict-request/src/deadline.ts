import { DomainError } from '../../errors/src/index.js';
import { stateOf } from './request-state.js';

/**
 * Waits for something that a request needs from elsewhere. All waits of one request share one deadline. The time in
 * which the client sends the request does not count. Rejects with DomainError SERVICE_UNAVAILABLE when the time is up:
 * the work itself goes on within its own limits, and its outcome is dropped. A request without a deadline waits without
 * a limit.
 */
export function withinDeadline<T>(request: object, answer: Promise<T>): Promise<T> {
  const state = stateOf(request);
  const { timeLeft } = state;
  if (timeLeft === undefined) return answer;
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      state.timeLeft = 0;
      reject(new DomainError('SERVICE_UNAVAILABLE'));
    }, timeLeft);
    const end = () => {
      clearTimeout(timer);
      state.timeLeft = timeLeft - (performance.now() - begun);
    };
    // First, so that the caller goes on with what is left.
    answer.then(end, end);
    answer.then(resolve, reject);
  });
}

/** Returns whether the time of a request is up: it has been refused, and its answer is no longer needed. */
export function isOverdue(request: object): boolean {
  const { timeLeft } = stateOf(request);
  return timeLeft !== undefined && timeLeft <= 0;
}
