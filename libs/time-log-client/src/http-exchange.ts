import { type Answer, failureOf } from './answer.js';
import type { Call, Outcome } from './retrying-sender.js';
import { randomId, type Runtime } from './runtime.js';
import { ABORTED } from './within.js';

/** A request, and the answers that are a success. */
export interface HttpRequest<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The result in an answer; undefined where the answer is no success. */
  readonly read: (answer: Answer) => T | undefined;
}

/** Sends requests over HTTP. */
export class HttpExchange {
  constructor(
    /** Paths are appended to the first of these. It becomes the last where a connection to it fails. */
    private roots: readonly string[],
    private readonly runtime: Runtime,
  ) {}

  /** A request as a call. All its tries share a request id: so they are found together in the service's log. */
  callOf<T>(request: HttpRequest<T>): Call<T> {
    const requestId = randomId();
    return { requestId, send: (token, signal) => this.send(request, { token, requestId }, signal) };
  }

  private async send<T>(
    request: HttpRequest<T>,
    caller: { readonly token: string | undefined; readonly requestId: string },
    signal: AbortSignal,
  ): Promise<Outcome<T>> {
    const [root, ...others] = this.roots as [string, ...string[]];
    try {
      return await this.sendTo(root, request, caller, signal);
    } catch (error) {
      // Nothing is wrong with it where the caller has given up. Another call may have turned away from it meanwhile.
      if (signal.reason !== ABORTED && this.roots[0] === root) this.roots = [...others, root];
      throw error;
    }
  }

  private async sendTo<T>(
    root: string,
    { method, path, headers, body, read }: HttpRequest<T>,
    { token, requestId }: { readonly token: string | undefined; readonly requestId: string },
    signal: AbortSignal,
  ): Promise<Outcome<T>> {
    // The fetch of browsers refuses to be called as a method.
    const { fetch, now } = this.runtime;
    const response = await fetch(root + path, {
      method,
      headers: new Headers({
        ...headers,
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        'X-Request-Id': requestId,
      }),
      signal,
      // A redirect could turn a POST into a GET, whose answer looks like a success.
      redirect: 'manual',
      // The token alone tells the service who calls.
      credentials: 'omit',
      ...(body !== undefined && { body }),
    });
    const answer = { status: response.status, headers: response.headers, text: await response.text() };
    const value = read(answer);
    return value === undefined ? failureOf(answer, now()) : { value };
  }
}
