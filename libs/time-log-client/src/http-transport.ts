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

type UnparsedRequest = Omit<HttpRequest<unknown>, 'parse'>;

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
  retryable<T>({ parse, ...request }: HttpRequest<T>): RetryableRequest<T> {
    return this.repeatable<T>(request, async (response) => {
      const complete = await completed(response);
      const value = parse(complete);
      return value === undefined ? this.failureOf(complete) : { value };
    });
  }

  /** Makes the start of a download retryable. `type` is the media type of a success. */
  download(path: string, type: string): RetryableRequest<Download> {
    return this.repeatable({ method: 'GET', path }, async (response) => {
      const isSuccess = response.status === 200 && response.headers.get('content-type')?.startsWith(type);
      return isSuccess ? { value: downloadOf(response) } : this.failureOf(await completed(response));
    });
  }

  /** If the connection fails, the next try or request goes to the next URL. */
  private repeatable<T>(
    request: UnparsedRequest,
    receive: (response: Response) => Promise<Outcome<T>>,
  ): RetryableRequest<T> {
    const requestId = randomId();
    const send = async (token: string | undefined, signal: AbortSignal): Promise<Outcome<T>> => {
      const [baseUrl, ...others] = this.baseUrls as [string, ...string[]];
      try {
        return await receive(await this.fetch(baseUrl, request, { token, requestId }, signal));
      } catch (error) {
        // If the caller has aborted, the URL is not at fault. Another call may have moved it already.
        if (signal.reason !== ABORTED && this.baseUrls[0] === baseUrl) this.baseUrls = [...others, baseUrl];
        throw error;
      }
    };
    return { requestId, send };
  }

  private fetch(
    baseUrl: string,
    { method, path, headers, body }: UnparsedRequest,
    { token, requestId }: Sent,
    signal: AbortSignal,
  ): Promise<Response> {
    // The fetch of browsers must not be called as a method.
    const { fetch } = this.runtime;
    return fetch(baseUrl + path, {
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

async function completed(response: Response): Promise<HttpResponse> {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function downloadOf(response: Response): Download {
  const { headers, body } = response;
  if (!body) return downloadOfText(response);
  const reader = body.getReader();
  return {
    headers,
    read: async () => (await reader.read()).value,
    // A connection that has failed rejects.
    close: () => void reader.cancel().catch(() => undefined),
  };
}

/** The fetch of React Native, and polyfills, have texts alone. */
function downloadOfText(response: Response): Download {
  let isRead = false;
  return {
    headers: response.headers,
    read: async () => {
      if (isRead) return undefined;
      isRead = true;
      return new TextEncoder().encode(await response.text());
    },
    close: () => undefined,
  };
}
