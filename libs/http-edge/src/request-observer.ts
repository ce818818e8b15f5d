import type { Response } from 'express';
import type { IdentifiedRequest } from './http-edge.options.js';

/** Sees every request of the app. A provider only has to extend this class: the edge finds it. */
export abstract class RequestObserver {
  /** Called when an answer is complete or given up, with the milliseconds that the request took. */
  abstract note(request: IdentifiedRequest, response: Response, milliseconds: number): void;
}
