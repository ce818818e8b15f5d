import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { type IStrategyOptions, Strategy, type VerifyFunction } from 'passport-http-bearer';
import { AUTH_OPTIONS, type BearerAuthOptions } from './bearer-auth.module-definition.js';
import type { Credentials } from './passport-call.js';
import type { Caller } from './caller.js';

/** `Bearer` in any case, spaces, then what may be a token (RFC 6750, section 2.1; RFC 9110, section 11.4). */
const BEARER = /^bearer +(.+)$/i;
/** b64token (RFC 6750, section 2.1). */
const B64TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * passport-http-bearer, which gets nothing but the one `Authorization` header. Given the whole request it would also
 * take tokens from query and body, against RFC 6750 (section 2.3), and refuse a second space.
 */
class HeaderBearerStrategy extends Strategy<VerifyFunction> {
  /** passport sets this for each request. */
  declare private readonly fail: (challenge: string) => void;
  private readonly realm: string;

  constructor(options: IStrategyOptions & { realm: string }, verify: VerifyFunction) {
    super(options, verify);
    this.realm = options.realm;
    // passport's registry is global to the process. A unique name keeps two apps, or a host's strategy, apart.
    this.name = `bearer:${randomUUID()}`;
  }

  override authenticate(credentials: object): void {
    const { authorization = '', isRepeated } = credentials as Credentials;
    const token = BEARER.exec(authorization)?.[1];
    if (token === undefined) {
      super.authenticate({ headers: {} } as never);
    } else if (!B64TOKEN.test(token) || isRepeated) {
      this.fail(`Bearer realm="${this.realm}", error="invalid_token"`);
    } else {
      super.authenticate({ headers: { authorization: `Bearer ${token}` } } as never);
    }
  }
}

/** Declares only what others need of it, so that a host needs no types of passport. */
const NamedStrategy: new (options: { realm: string }) => { readonly name: string } =
  PassportStrategy(HeaderBearerStrategy);

/** What the guard gets the strategy by: a guard of another build in the process knows another class. */
export const BEARER_STRATEGY = Symbol.for('time-logs.BearerStrategy');

/** Asks the TokenVerifier about every request that needs a token. */
@Injectable()
export class BearerStrategy extends NamedStrategy {
  constructor(@Inject(AUTH_OPTIONS) private readonly options: BearerAuthOptions) {
    super({ realm: options.realm });
  }

  async validate(token: string): Promise<Caller | false> {
    return (await this.options.verifier.verify(token)) ?? false;
  }
}
