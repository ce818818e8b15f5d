import { ConfigurableModuleBuilder, type ExecutionContext } from '@nestjs/common';
import type { Caller } from './caller.js';
import type { TokenVerifier } from './token-verifier.js';

/** How BearerAuthModule tells who a bearer token belongs to. */
export interface BearerAuthOptions {
  readonly verifier: TokenVerifier;
  /** The realm that challenges name (RFC 9110, section 11.5). */
  readonly realm: string;
  /**
   * Called for each request whose token is good for its route, before the body is read. It throws to refuse the
   * request.
   */
  readonly admit?: (caller: Caller, context: ExecutionContext) => void;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN: AUTH_OPTIONS } =
  new ConfigurableModuleBuilder<BearerAuthOptions>({ moduleName: 'Auth' })
    .setClassMethodName('forRoot')
    .setExtras({}, (definition) => ({ ...definition, global: true }))
    .build();
