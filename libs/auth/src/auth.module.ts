import { Module } from '@nestjs/common';
import { AUTH_OPTIONS, ConfigurableModuleClass } from './auth.module-definition.js';
import { BearerStrategy } from './bearer.strategy.js';

/**
 * Bearer authentication by a TokenVerifier, for every module of the app: `AuthModule.forRoot({ verifier, realm })`.
 */
@Module({ providers: [BearerStrategy], exports: [BearerStrategy, AUTH_OPTIONS] })
export class AuthModule extends ConfigurableModuleClass {}
