import { DomainError } from '../../errors/src/index.js';

const LEFT = Symbol.for('time-logs.milliseconds left');

/** Sets how many milliseconds a request may wait in all. Call it before the first wait; only the first call counts. */
export function limitWaiting(request: object, milliseconds: number): void {
  const waiting: WaitingRequest = request;
  waiting[LEFT] ??= milliseconds;
}

/**
 * Waits for something that a request needs from elsewhere. All waits of one request share one deadline. The time in
 * which the client sends the request does not count. Rejects with DomainError SERVICE_UNAVAILABLE when the time is up:
 * the work itself goes on within its own limits, and its outcome is dropped. A request without a deadline waits without
 * a limit.
 */
export function withinDeadline<T>(request: object, answer: Promise<T>): Promise<T> {
  const waiting = request as WaitingRequest;
  const left = waiting[LEFT];
  if (left === undefined) return answer;
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      waiting[LEFT] = 0;
      reject(new DomainError('SERVICE_UNAVAILABLE'));
    }, left);
    const end = () => {
      clearTimeout(timer);
      waiting[LEFT] = left - (performance.now() - begun);
    };
    // First, so that the caller goes on with what is left.
    answer.then(end, end);
    answer.then(resolve, reject);
  });
}

/** Whether the time of a request is up: it has been refused, and nobody waits for what it needs. */
export function isOverdue(request: WaitingRequest): boolean {
  return request[LEFT] !== undefined && request[LEFT] <= 0;
}

interface WaitingRequest {
  [LEFT]?: number | undefined;
}
