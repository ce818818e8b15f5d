import { ConfigurableModuleBuilder, Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { QUOTA, RateLimitInterceptor } from './rate-limit.interceptor.js';
import type { Quota } from './rate-limiter.js';

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<Quota>({
  moduleName: 'RateLimit',
  optionsInjectionToken: QUOTA,
})
  .setClassMethodName('forRoot')
  .build();

/** A limit for whatever is done with a token, in all modules of the app that imports it: `RateLimitModule.forRoot({ requests, seconds })`. */
@Module({ providers: [{ provide: APP_INTERCEPTOR, useClass: RateLimitInterceptor }] })
export class RateLimitModule extends ConfigurableModuleClass {}
