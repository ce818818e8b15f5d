import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, Get, Header, Res, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import type { Response } from 'express';
import { BearerAuthGuard, Open } from '../../libs/auth/src/index.js';
import { ErrorEnvelopeFilter } from '../../libs/errors/src/index.js';
import { DocumentDocumentation } from './api-docs.documentation.js';
import { CONTENT_SECURITY_POLICY, DOCS_PAGE, START_SCRIPT } from './docs-page.js';

const require = createRequire(import.meta.url);

const SCRIPT = 'text/javascript; charset=utf-8';

/** What `npm run openapi` has made of the routes. */
export const DOCUMENT_FILE = 'openapi.json';

/** The OpenAPI document and a page to read and try it, open. No part of a request ever names a file. */
@Controller()
@UseGuards(BearerAuthGuard)
@UseFilters(ErrorEnvelopeFilter)
export class ApiDocsController {
  private readonly files = new Map<string, Buffer>();

  @Get('openapi.json')
  @Open()
  @DocumentDocumentation
  @Header('Content-Type', 'application/json; charset=utf-8')
  document(@Res() response: Response): void {
    response.send(this.file(join(import.meta.dirname, DOCUMENT_FILE)));
  }

  @Get('docs')
  @Open()
  @ApiExcludeEndpoint()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  page(): string {
    return DOCS_PAGE;
  }

  @Get('docs/start.js')
  @Open()
  @ApiExcludeEndpoint()
  @Header('Content-Type', SCRIPT)
  start(): string {
    return START_SCRIPT;
  }

  @Get('docs/swagger-ui-bundle.js')
  @Open()
  @ApiExcludeEndpoint()
  @Header('Content-Type', SCRIPT)
  bundle(@Res() response: Response): void {
    response.send(this.asset('swagger-ui-bundle.js'));
  }

  @Get('docs/swagger-ui.css')
  @Open()
  @ApiExcludeEndpoint()
  @Header('Content-Type', 'text/css; charset=utf-8')
  style(@Res() response: Response): void {
    response.send(this.asset('swagger-ui.css'));
  }

  @Get('docs/favicon-32x32.png')
  @Open()
  @ApiExcludeEndpoint()
  @Header('Content-Type', 'image/png')
  icon(@Res() response: Response): void {
    response.send(this.asset('favicon-32x32.png'));
  }

  /** A file of Swagger UI. */
  private asset(name: string): Buffer {
    return this.file(join(dirname(require.resolve('swagger-ui-dist/package.json')), name));
  }

  /** Read when it is first asked for. All readers get the same bytes, however many and slow they are. */
  private file(path: string): Buffer {
    const known = this.files.get(path);
    if (known) return known;
    const bytes = readFileSync(path);
    this.files.set(path, bytes);
    return bytes;
  }
}
