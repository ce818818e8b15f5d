import { Module } from '@nestjs/common';
import { AUTH_OPTIONS, ConfigurableModuleClass } from './bearer-auth.module-definition.js';
import { BEARER_STRATEGY, BearerStrategy } from './bearer.strategy.js';

/** The headers by which callers show who they are, and by which they are answered: for pages of other origins. */
export const AUTH_HEADERS = {
  accepted: ['Authorization'],
  exposed: ['WWW-Authenticate', 'RateLimit', 'RateLimit-Policy'],
};

/**
 * Bearer authentication by a TokenVerifier, for every module of the app: `BearerAuthModule.forRoot({ verifier, realm })`.
 */
@Module({
  providers: [BearerStrategy, { provide: BEARER_STRATEGY, useExisting: BearerStrategy }],
  exports: [BearerStrategy, BEARER_STRATEGY, AUTH_OPTIONS],
})
export class BearerAuthModule extends ConfigurableModuleClass {}
