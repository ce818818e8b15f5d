import { type Failure, failureOf, type HttpResponse } from './failure.js';
import type { Outcome, RetryableRequest } from './retrying-sender.js';
import { randomId, type Runtime } from './runtime.js';
import { ABORTED } from './run-with-timeout.js';

/** A request and the parser of its response. */
export interface HttpRequest<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Returns the result in a response; undefined if the response is not a success. */
  readonly parse: (response: HttpResponse) => T | undefined;
}

/** A GET request whose response is read in parts. */
export interface DownloadRequest {
  /** The path with its query. */
  readonly path: string;
  /** The media type of a success. */
  readonly type: string;
}

/** A response whose body has not been read. */
export interface Download {
  readonly headers: Headers;
  /** Returns the next bytes; undefined at the end. Rejects if the connection fails. */
  readonly read: () => Promise<Uint8Array | undefined>;
  /** Ends the connection, unless the body was read to its end. */
  readonly close: () => void;
}

/** The token and the id of a request. */
interface Sent {
  readonly token: string | undefined;
  readonly requestId: string;
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
    const send = async (token: string | undefined, signal: AbortSignal): Promise<Outcome<T>> => {
      const response = await complete(await this.fetch(request, { token, requestId }, signal));
      const value = request.parse(response);
      return value === undefined ? this.failureOf(response) : { value };
    };
    return { requestId, send: (token, signal) => this.withFailover(() => send(token, signal), signal) };
  }

  /** Makes the start of a download retryable. */
  download({ path, type }: DownloadRequest): RetryableRequest<Download> {
    const requestId = randomId();
    const send = async (token: string | undefined, signal: AbortSignal): Promise<Outcome<Download>> => {
      // The signal of a try aborts at its end, when the body is still to be read.
      const controller = new AbortController();
      const abort = () => controller.abort(signal.reason);
      signal.addEventListener('abort', abort);
      try {
        const response = await this.fetch({ method: 'GET', path }, { token, requestId }, controller.signal);
        const isSuccess = response.status === 200 && response.headers.get('content-type')?.startsWith(type);
        if (!isSuccess) return this.failureOf(await complete(response));
        return { value: downloadOf(response, () => controller.abort()) };
      } finally {
        signal.removeEventListener('abort', abort);
      }
    };
    return { requestId, send: (token, signal) => this.withFailover(() => send(token, signal), signal) };
  }

  /** Sends a request. If the connection fails, the next one goes to the next URL. */
  private async withFailover<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const [baseUrl, ...others] = this.baseUrls as [string, ...string[]];
    try {
      return await send();
    } catch (error) {
      // If the caller has aborted, the URL is not at fault. Another call may have moved it already.
      if (signal.reason !== ABORTED && this.baseUrls[0] === baseUrl) this.baseUrls = [...others, baseUrl];
      throw error;
    }
  }

  private fetch(
    { method, path, headers, body }: Omit<HttpRequest<unknown>, 'parse'>,
    { token, requestId }: Sent,
    signal: AbortSignal,
  ): Promise<Response> {
    // The fetch of browsers must not be called as a method.
    const { fetch } = this.runtime;
    return fetch(this.baseUrls[0]! + path, {
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
  }

  private failureOf(response: HttpResponse): Failure {
    return failureOf(response, this.runtime.now());
  }
}

async function complete(response: Response): Promise<HttpResponse> {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function downloadOf({ headers, body }: Response, close: () => void): Download {
  const reader = body?.getReader();
  const read = async () => (await reader?.read())?.value;
  return { headers, read, close };
}
