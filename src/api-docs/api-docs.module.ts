import { type DynamicModule, Module } from '@nestjs/common';
import { ApiDocsController, DESCRIBE_ATTRIBUTES, type DescribeAttributes } from './api-docs.controller.js';

/** Provides `/openapi.json` and `/docs`. */
@Module({ controllers: [ApiDocsController] })
export class ApiDocsModule {
  static forRoot(describe?: DescribeAttributes): DynamicModule {
    return { module: ApiDocsModule, providers: [{ provide: DESCRIBE_ATTRIBUTES, useValue: describe }] };
  }
}
