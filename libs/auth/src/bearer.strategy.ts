import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { RequestHandler } from 'express';
import passport from 'passport';
import { type IStrategyOptions, Strategy, type VerifyFunction } from 'passport-http-bearer';
import { DomainError } from '../../errors/src/index.js';
import { headerValues, isJsonObject } from '../../strict-request/src/index.js';
import { AUTH_OPTIONS, type BearerAuthOptions } from './bearer-auth.module-definition.js';
import type { Caller } from './caller.js';

/** passport's decision: an error, or a caller, or a challenge in `info`. */
export interface Decision {
  readonly error: unknown;
  readonly caller: Caller | false | undefined;
  readonly info: unknown;
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

/**
 * passport-http-bearer with only the `Authorization` header. With the whole request it would also
 * accept tokens in the query and body, against RFC 6750 (section 2.3), and refuse a second space.
 */
class HeaderBearerStrategy extends Strategy<VerifyFunction> {
  /** Set by passport for each request. */
  declare private readonly fail: (challenge: string) => void;
  private readonly realm: string;
  private readonly logger = new Logger('Tokens');

  constructor(options: IStrategyOptions & { realm: string }, verify: VerifyFunction) {
    super(options, verify);
    this.realm = options.realm;
    // passport's registry is global to the process, so two applications need different names.
    this.name = `bearer:${randomUUID()}`;
  }

  override authenticate(credentials: object): void {
    const { authorization = '', isRepeated } = credentials as Credentials;
    const token = BEARER.exec(authorization)?.[1];
    if (token === undefined) {
      if (authorization !== '') this.logger.debug('token refused: Authorization is not Bearer and a token');
      super.authenticate({ headers: {} } as never);
    } else if (!B64TOKEN.test(token) || isRepeated) {
      const fault = isRepeated ? 'Authorization is repeated' : 'it has characters that no token has';
      this.logger.debug(`token refused: ${fault}`);
      this.fail(`Bearer realm="${this.realm}", error="invalid_token"`);
    } else {
      super.authenticate({ headers: { authorization: `Bearer ${token}` } } as never);
    }
  }
}

/** A strategy as other modules see it, so that a host application needs no types of passport. */
const NamedStrategy: new (options: { realm: string }) => { readonly name: string } =
  PassportStrategy(HeaderBearerStrategy);

/** The injection token of the strategy. It is not the class, which differs in each build. */
export const BEARER_STRATEGY = Symbol.for('time-logs.BearerStrategy');

/** Passes the token of a request to the TokenVerifier. */
@Injectable()
export class BearerStrategy extends NamedStrategy {
  constructor(@Inject(AUTH_OPTIONS) private readonly options: BearerAuthOptions) {
    super({ realm: options.realm });
  }

  async validate(token: string): Promise<Caller | false> {
    return (await this.options.verifier.verify(token)) ?? false;
  }

  /** Lets passport decide by this strategy. */
  decide(credentials: Credentials): Promise<Decision> {
    return new Promise((resolve, reject) => {
      const callback = (error: unknown, caller: Decision['caller'], info: unknown) =>
        resolve({ error, caller, info });
      const authenticate = passport.authenticate(this.name, { session: false }, callback) as RequestHandler;
      authenticate(credentials as never, undefined as never, reject);
    });
  }
}
