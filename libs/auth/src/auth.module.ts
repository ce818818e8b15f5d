import { Module } from '@nestjs/common';
import { AUTH_OPTIONS, ConfigurableModuleClass } from './auth.module-definition.js';
import { BEARER_STRATEGY, BearerStrategy } from './bearer.strategy.js';

/**
 * Bearer authentication by a TokenVerifier, for every module of the app: `AuthModule.forRoot({ verifier, realm })`.
 */
@Module({
  providers: [BearerStrategy, { provide: BEARER_STRATEGY, useExisting: BearerStrategy }],
  exports: [BearerStrategy, BEARER_STRATEGY, AUTH_OPTIONS],
})
export class AuthModule extends ConfigurableModuleClass {}
