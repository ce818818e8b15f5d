import type { IncomingMessage } from 'node:http';
import { AuthGuard } from '@nestjs/passport';
import type { Caller } from './caller.js';

/** The verdict of a strategy: an error, or a caller, or else the challenge as `info`. */
export interface Verdict {
  readonly error: unknown;
  readonly caller: Caller | false;
  readonly info: unknown;
}

/**
 * The credentials of a request or message: all that passport works on, and gives its verdict to. A class, because
 * passport adds properties: Node 20 gives an object literal made with `...` a new hidden class for each of them, in
 * every call, and a call took 12 µs instead of 2.
 */
export class Credentials {
  verdict: Verdict | undefined = undefined;

  constructor(
    /** The `Authorization` header. */
    readonly authorization: string | undefined,
    /** Whether the header came more than once. */
    readonly isRepeated = false,
  ) {}

  static ofRequest({ headersDistinct }: IncomingMessage): Credentials {
    const [authorization, second] = headersDistinct.authorization ?? [];
    return new Credentials(authorization, second !== undefined);
  }

  /** A message has its token in its data. A token never begins with a space, which a header would lose. */
  static ofMessage({ accessToken }: { readonly accessToken?: unknown }): Credentials {
    const isToken = typeof accessToken === 'string' && !accessToken.startsWith(' ');
    return new Credentials(isToken ? `Bearer ${accessToken}` : undefined);
  }
}

/**
 * Asks a strategy of passport by its name. passport gets the credentials alone. It assigns functions to properties, and
 * V8 makes such functions old at once: what they reach stays until a collection of old garbage. With the whole request
 * that was a fifth of the CPU of a create.
 */
export class PassportCall extends AuthGuard() {
  constructor(strategy: string) {
    super({ defaultStrategy: strategy });
  }

  async verdictOn(credentials: Credentials): Promise<Verdict> {
    await this.canActivate(credentials as never);
    return credentials.verdict!;
  }

  // The methods below are called by @nestjs/passport, with the credentials instead of the context of Nest.

  override getRequest(credentials: unknown): never {
    return credentials as never;
  }

  /** Returns none: passport would only redirect it. */
  getResponse(): undefined {
    return undefined;
  }

  override handleRequest(error: unknown, caller: never, info: unknown, credentials: unknown): never {
    (credentials as Credentials).verdict = { error, caller, info };
    return caller;
  }
}
