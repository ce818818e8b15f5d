import { ConfigurableModuleBuilder, type ExecutionContext } from '@nestjs/common';
import type { Caller } from './caller.js';
import type { TokenVerifier } from './token-verifier.js';

/** The options of BearerAuthModule. */
export interface BearerAuthOptions {
  readonly verifier: TokenVerifier;
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
