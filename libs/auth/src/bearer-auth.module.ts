import { Module } from '@nestjs/common';
import { AUTH_OPTIONS, ConfigurableModuleClass } from './bearer-auth.options.js';
import { BEARER_STRATEGY, BearerStrategy } from './bearer.strategy.js';

/** Bearer authentication for all modules: `BearerAuthModule.forRoot({ verifier, realm })`. */
@Module({
  providers: [BearerStrategy, { provide: BEARER_STRATEGY, useExisting: BearerStrategy }],
  exports: [BearerStrategy, BEARER_STRATEGY, AUTH_OPTIONS],
})
export class BearerAuthModule extends ConfigurableModuleClass {}
