import { ConfigurableModuleBuilder, type ExecutionContext } from '@nestjs/common';
import type { Principal, TokenVerifier } from './token-verifier.js';

export interface AuthOptions {
  readonly verifier: TokenVerifier;
  /** Name of the protection space in challenges (RFC 9110, section 11.5). */
  readonly realm: string;
  /** Asked about each request whose token is good for its route, before its body is read; throws to refuse it. */
  readonly admit?: (principal: Principal, context: ExecutionContext) => void;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN: AUTH_OPTIONS } =
  new ConfigurableModuleBuilder<AuthOptions>({ moduleName: 'Auth' })
    .setClassMethodName('forRoot')
    .setExtras({}, (definition) => ({ ...definition, global: true }))
    .build();
