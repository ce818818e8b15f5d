import { ConfigurableModuleBuilder, type ExecutionContext } from '@nestjs/common';
import type { Principal, TokenVerifier } from './token-verifier.js';

/** How AuthModule tells who a bearer token belongs to. */
export interface AuthOptions {
  readonly verifier: TokenVerifier;
  /** The realm that challenges name (RFC 9110, section 11.5). */
  readonly realm: string;
  /**
   * Called for each request whose token is good for its route, before the body is read. It throws to refuse the
   * request.
   */
  readonly admit?: (principal: Principal, context: ExecutionContext) => void;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN: AUTH_OPTIONS } =
  new ConfigurableModuleBuilder<AuthOptions>({ moduleName: 'Auth' })
    .setClassMethodName('forRoot')
    .setExtras({}, (definition) => ({ ...definition, global: true }))
    .build();
