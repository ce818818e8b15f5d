import type { Response } from 'express';
import type { IdentifiedRequest } from './http-edge.options.js';

/** Who is told of every request of the app. A provider that extends it needs no more than to be there: the edge finds it. */
export abstract class RequestObserver {
  /** Called when an answer is complete or given up; with how many milliseconds it took. */
  abstract note(request: IdentifiedRequest, response: Response, milliseconds: number): void;
}
