import { randomUUID } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { type IStrategyOptions, Strategy, type VerifyFunction } from 'passport-http-bearer';
import { AUTH_OPTIONS, type BearerAuthOptions } from './bearer-auth.module-definition.js';
import type { Credentials } from './passport-authenticator.js';
import type { Caller } from './caller.js';

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
}
