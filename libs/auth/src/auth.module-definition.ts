import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { TokenVerifier } from './token-verifier.js';

export interface AuthOptions {
  readonly verifier: TokenVerifier;
  /** Name of the protection space in challenges (RFC 9110, section 11.5). */
  readonly realm: string;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN: AUTH_OPTIONS } =
  new ConfigurableModuleBuilder<AuthOptions>({ moduleName: 'Auth' })
    .setClassMethodName('forRoot')
    .setExtras({}, (definition) => ({ ...definition, global: true }))
    .build();
