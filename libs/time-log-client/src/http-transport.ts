import { failureOf, type HttpResponse } from './failure.js';
import type { Outcome, RetryableRequest } from './retrying-sender.js';
import { randomId, type Runtime } from './runtime.js';
import { ABORTED } from './run-with-timeout.js';

/** A request and the parser of its response. */
export interface HttpRequest<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Returns the result in a response; undefined if the response is not a success. */
  readonly parse: (response: HttpResponse) => T | undefined;
}

/** Sends requests over HTTP. */
export class HttpTransport {
  constructor(
    /** Paths are appended to the first URL. It becomes the last one if a connection to it fails. */
    private baseUrls: readonly string[],
    private readonly runtime: Runtime,
  ) {}

  /** Makes a request retryable. All tries share a request id in the log of the service. */
  retryable<T>(request: HttpRequest<T>): RetryableRequest<T> {
    const requestId = randomId();
    return { requestId, send: (token, signal) => this.send(request, { token, requestId }, signal) };
  }

  private async send<T>(
    request: HttpRequest<T>,
    caller: { readonly token: string | undefined; readonly requestId: string },
    signal: AbortSignal,
  ): Promise<Outcome<T>> {
    const [baseUrl, ...others] = this.baseUrls as [string, ...string[]];
    try {
      return await this.sendTo(baseUrl, request, caller, signal);
    } catch (error) {
      // If the caller has aborted, the URL is not at fault. Another call may have moved it already.
      if (signal.reason !== ABORTED && this.baseUrls[0] === baseUrl) this.baseUrls = [...others, baseUrl];
      throw error;
    }
  }

  private async sendTo<T>(
    baseUrl: string,
    { method, path, headers, body, parse }: HttpRequest<T>,
    { token, requestId }: { readonly token: string | undefined; readonly requestId: string },
    signal: AbortSignal,
  ): Promise<Outcome<T>> {
    // The fetch of browsers must not be called as a method.
    const { fetch, now } = this.runtime;
    const response = await fetch(baseUrl + path, {
      method,
      headers: new Headers({
        ...headers,
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        'X-Request-Id': requestId,
      }),
      signal,
      // A redirect could turn a POST into a GET, whose response looks like a success.
      redirect: 'manual',
      // Only the token identifies the caller.
      credentials: 'omit',
      ...(body !== undefined && { body }),
    });
    const complete = { status: response.status, headers: response.headers, text: await response.text() };
    const value = parse(complete);
    return value === undefined ? failureOf(complete, now()) : { value };
  }
}
