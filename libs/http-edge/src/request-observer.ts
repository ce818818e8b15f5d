import type { Response } from 'express';
import type { IdentifiedRequest } from './http-edge.options.js';

/** A provider that observes every request of the app. http-edge finds all subclasses. */
export abstract class RequestObserver {
  /** Called when a response is complete or aborted, with the duration of the request. */
  abstract onResponse(request: IdentifiedRequest, response: Response, milliseconds: number): void;
}
