import type { IncomingMessage } from 'node:http';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { RequestHandler } from 'express';
import passport, { type PassportStatic } from 'passport';
import { Strategy } from 'passport-http-bearer';
import { DomainError } from '../../errors/src/index.js';
import { headerValues } from '../../request-state/src/index.js';
import { isJsonObject } from '../../strict-request/src/index.js';
import { AUTH_OPTIONS, type BearerAuthOptions } from './bearer-auth.options.js';
import type { Caller } from './caller.js';

/** passport's decision: an error, or a caller, or a challenge in `info`. */
export interface Decision {
  readonly error?: unknown;
  readonly caller: Caller | false | undefined;
  readonly info?: unknown;
}

/**
 * The credentials of a request or message, which passport gets instead of a request. passport
 * assigns functions to properties. V8 moves such functions to the old generation at once, and all
 * that they reference stays until a full garbage collection. With the whole request this took a
 * fifth of the CPU time of a create. For added properties Node 20 makes new hidden classes if the
 * object is a literal with `...`: a call then takes 12 µs instead of 2. Therefore this is a class.
 */
export class Credentials {
  constructor(
    /** The `Authorization` header. */
    readonly authorization: string | undefined,
    /** Whether the request has the header more than once. */
    readonly isRepeated = false,
  ) {}

  static ofRequest(request: Pick<IncomingMessage, 'rawHeaders'>): Credentials {
    const [authorization, second] = headerValues(request, 'authorization');
    return new Credentials(authorization, second !== undefined);
  }

  /** Reads the token of a message. It must not begin with a space, which a header would lose. */
  static ofMessage(data: { readonly accessToken?: unknown }): Credentials {
    if (!isJsonObject(data)) throw new DomainError('UNAUTHORIZED');
    const { accessToken } = data;
    const isToken = typeof accessToken === 'string' && !accessToken.startsWith(' ');
    return new Credentials(isToken ? `Bearer ${accessToken}` : undefined);
  }
}

/** `Bearer` in any case, spaces, and a token (RFC 6750, section 2.1; RFC 9110, section 11.4). */
const BEARER = /^bearer +(.+)$/i;
/** The syntax of a token: `b64token` (RFC 6750, section 2.1). */
const B64TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/** A strategy of passport, typed here so that a host application needs no types of passport. */
interface PassportBearer {
  authenticate(request: object): void;
  success(caller: Caller): void;
  fail(challenge: string): void;
}
const PassportBearer = PassportStrategy(Strategy) as unknown as new (options: {
  readonly realm: string;
}) => PassportBearer;

/** The injection token of the strategy. It is not the class, which differs in each build. */
export const BEARER_STRATEGY = Symbol.for('time-logs.BearerStrategy');

/**
 * passport-http-bearer with only the `Authorization` header. With the whole request it would also
 * accept tokens in the query and body, against RFC 6750 (section 2.3), and refuse a second space.
 */
@Injectable()
export class BearerStrategy extends PassportBearer {
  declare private registry: PassportStatic | undefined;
  private readonly logger = new Logger('Tokens');

  constructor(@Inject(AUTH_OPTIONS) readonly options: BearerAuthOptions) {
    super({ realm: options.realm });
  }

  /** Registers the strategy apart from those of the host and of other applications in the process. */
  getPassportInstance(): PassportStatic {
    return (this.registry ??= new passport.Passport() as PassportStatic);
  }

  /** Lets passport decide: at once if the token is known. */
  decide(credentials: Credentials): Decision | Promise<Decision> {
    let decision: Decision | undefined;
    let settle = (decided: Decision): void => void (decision = decided);
    const callback = (error: unknown, caller: Decision['caller'], info: unknown) =>
      settle({ error, caller, info });
    const options = { session: false };
    const authenticate = this.registry!.authenticate('bearer', options, callback) as RequestHandler;
    authenticate(credentials as never, undefined as never, callback as never);
    return decision ?? new Promise((resolve) => (settle = resolve));
  }

  override authenticate({ authorization = '', isRepeated }: Credentials): void {
    const token = BEARER.exec(authorization)?.[1];
    if (token === undefined) {
      if (authorization !== '') this.logger.debug('token refused: Authorization is not Bearer and a token');
      super.authenticate({ headers: {} });
    } else if (isRepeated || !B64TOKEN.test(token)) {
      const fault = isRepeated ? 'Authorization is repeated' : 'it has characters that no token has';
      this.logger.debug(`token refused: ${fault}`);
      this.fail(`Bearer realm="${this.options.realm}", error="invalid_token"`);
    } else {
      const caller = this.options.known?.(token);
      if (caller) this.success(caller);
      else super.authenticate({ headers: { authorization: `Bearer ${token}` } });
    }
  }

  /** Called by passport for a token that is not known. */
  async validate(token: string): Promise<Caller | false> {
    // Awaited, never compared with Promise: the code of a host may return a promise of another library.
    return (await this.options.verifier.verify(token)) ?? false;
  }
}
