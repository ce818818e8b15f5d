import { failureOf, parseJson } from './failure.js';
import type { RetryableRequest } from './retrying-sender.js';
import { randomId, type Runtime, ABORTED } from './run-with-timeout.js';
import { parametersOf } from './time-logs.js';

/** The statuses of a success. */
const STATUSES = { GET: 200, POST: 201, PUT: 200, PATCH: 200, DELETE: 204 };

/** A request and the parser of its response. */
export interface HttpRequest<T> {
  readonly method: keyof typeof STATUSES;
  readonly path: string;
  /** The filter and other parameters. */
  readonly query?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** A value that is sent as JSON. */
  readonly body?: object;
  /** The media type of a response whose body is not read. */
  readonly streamType?: string;
  /**
   * Returns the result in a response with the status of a success, whose body is JSON or another text; undefined if it
   * is another response.
   */
  readonly parse: (body: unknown, response: Response) => T | undefined;
}

/** Sends requests over HTTP. */
export class HttpTransport {
  constructor(
    /** Paths are appended to the first URL. It becomes the last one if a connection to it fails. */
    private baseUrls: readonly string[],
    private readonly runtime: Pick<Runtime, 'fetch' | 'now'>,
  ) {}

  /** Makes a request retryable. All tries send the same, with the same request id for the log of the service. */
  retryable<T>(request: HttpRequest<T>): RetryableRequest<T> & { readonly requestId: string } {
    const { method, streamType, parse } = request;
    const requestId = randomId();
    const target = request.path + queryOf(request.query ?? {});
    const options = optionsOf(request, requestId);
    // The fetch of browsers must not be called as a method.
    const { fetch, now } = this.runtime;
    const send: RetryableRequest<T>['send'] = async (token, signal) => {
      const [baseUrl, ...others] = this.baseUrls as [string, ...string[]];
      const headers = new Headers(options.headers);
      if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
      try {
        const response = await fetch(baseUrl + target, { ...options, headers, signal });
        const isSuccess = response.status === STATUSES[method];
        const isStream = streamType !== undefined && isSuccess && hasType(response, streamType);
        const text = isStream ? undefined : await response.text();
        const body = text === undefined ? undefined : (parseJson(text) ?? text);
        const value = isSuccess ? parse(body, response) : undefined;
        return value === undefined ? failureOf(response, body, now()) : { value };
      } catch (error) {
        // If the caller has aborted, the URL is not at fault. Another call may have moved it already.
        if (signal.reason !== ABORTED && this.baseUrls[0] === baseUrl) this.baseUrls = [...others, baseUrl];
        throw error;
      }
    };
    return { requestId, send };
  }
}

function optionsOf({ method, headers, body }: HttpRequest<unknown>, requestId: string): RequestInit {
  return {
    method,
    headers: {
      ...(body && { 'Content-Type': 'application/json' }),
      ...headers,
      'X-Request-Id': requestId,
    },
    // A redirect could turn a POST into a GET, whose response looks like a success.
    redirect: 'manual',
    // Only the token identifies the caller.
    credentials: 'omit',
    ...(body && { body: JSON.stringify(body) }),
  };
}

function hasType({ headers }: Response, type: string): boolean {
  return headers.get('content-type')?.startsWith(type) ?? false;
}

function queryOf(query: object): string {
  const text = String(new URLSearchParams(parametersOf(query) as Record<string, string>));
  return text && `?${text}`;
}
