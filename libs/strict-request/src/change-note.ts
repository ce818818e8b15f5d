/** What a request or a message changes. */
export interface NotedChange {
  /** What becomes of it, in one word. */
  readonly kind: string;
  /** The id of what is changed. */
  readonly id: string;
}

const CHANGE = Symbol('change');

interface Noted {
  [CHANGE]?: NotedChange;
}

/** Keeps with a request, or with the data of a message, what it changes: for the access log of an app. */
export function noteChange(called: object, kind: string, id: string): void {
  (called as Noted)[CHANGE] = { kind, id };
}

/** What was noted; undefined where that changes nothing, or has not come to it. */
export function changeOf(called: object): NotedChange | undefined {
  return (called as Noted)[CHANGE];
}
