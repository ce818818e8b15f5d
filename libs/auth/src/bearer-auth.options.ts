import { ConfigurableModuleBuilder, type ExecutionContext } from '@nestjs/common';
import type { Caller } from './caller.js';

/** The port that verifies bearer tokens. A host application implements it. */
export abstract class TokenVerifier {
  /**
   * Returns the caller of a valid token, else undefined. Its id must be that of the token or subject,
   * never the token itself. Throws DomainError SERVICE_UNAVAILABLE if it cannot verify the token.
   */
  abstract verify(token: string): Promise<Caller | undefined>;
}

/** The options of BearerAuthModule. */
export interface BearerAuthOptions {
  readonly verifier: TokenVerifier;
  /** Called before the verifier. Returns the caller of a token that was verified in the last seconds, at once. */
  readonly known?: (token: string) => Caller | undefined;
  /** The realm in challenges (RFC 9110, section 11.5). */
  readonly realm: string;
  /** Called before the body is read if the token allows the route. Throws to refuse the request. */
  readonly admit?: (caller: Caller, context: ExecutionContext) => void;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN: AUTH_OPTIONS } =
  new ConfigurableModuleBuilder<BearerAuthOptions>({ moduleName: 'Auth' })
    .setClassMethodName('forRoot')
    .setExtras({}, (definition) => ({ ...definition, global: true }))
    .build();
