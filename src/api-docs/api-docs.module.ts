import { Module } from '@nestjs/common';
import { ApiDocsController } from './api-docs.controller.js';

/** Provides `/openapi.json` and `/docs`. */
@Module({ controllers: [ApiDocsController] })
export class ApiDocsModule {}
