import { DomainError, ERROR_KINDS } from '../../errors/src/index.js';

const LEFT = Symbol('milliseconds left');

/** Sets how many milliseconds a request may wait in all, once: to be called before it has waited for anything. */
export function limitWaiting(request: object, milliseconds: number): void {
  const waiting: WaitingRequest = request;
  waiting[LEFT] ??= milliseconds;
}

/**
 * Waits for what a request needs from elsewhere. All waits of one request share one deadline, in which the time that its
 * client takes to send it does not count. Rejects with DomainError SERVICE_UNAVAILABLE when the time is up: what was
 * begun goes on, within limits of its own, and nobody learns its outcome. A request without a deadline waits as it is.
 */
export function withinDeadline<T>(request: object, answer: Promise<T>): Promise<T> {
  const waiting = request as WaitingRequest;
  const left = waiting[LEFT];
  if (left === undefined) return answer;
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      waiting[LEFT] = 0;
      reject(new DomainError('SERVICE_UNAVAILABLE', ERROR_KINDS.SERVICE_UNAVAILABLE.message));
    }, left);
    const end = () => {
      clearTimeout(timer);
      waiting[LEFT] = left - (performance.now() - begun);
    };
    answer.finally(end).then(resolve, reject);
  });
}

interface WaitingRequest {
  [LEFT]?: number | undefined;
}
