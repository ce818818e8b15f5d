import { Module } from '@nestjs/common';
import { ApiDocsController } from './api-docs.controller.js';

/** The documentation of the service over HTTP: `/openapi.json` and `/docs`. */
@Module({ controllers: [ApiDocsController] })
export class ApiDocsModule {}
