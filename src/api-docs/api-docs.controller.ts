import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, Get, Header, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CONTENT_SECURITY_POLICY, DOCS_PAGE, START_SCRIPT } from './docs-page.js';
import { openApiText } from './open-api.document.js';

const require = createRequire(import.meta.url);

const SCRIPT = 'text/javascript; charset=utf-8';

/** The paths of the controller, all of them open. */
export const API_DOCS_PATHS = [
  '/openapi.json',
  '/docs',
  '/docs/start.js',
  '/docs/swagger-ui-bundle.js',
  '/docs/swagger-ui.css',
  '/docs/favicon-32x32.png',
];

/** The OpenAPI document and a page to read and try it, open. No part of a request ever names a file. */
@Controller()
export class ApiDocsController {
  private text: string | undefined;
  private readonly assets = new Map<string, Buffer>();

  @Get('openapi.json')
  @Header('Content-Type', 'application/json; charset=utf-8')
  document(): string {
    return (this.text ??= openApiText());
  }

  @Get('docs')
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  page(): string {
    return DOCS_PAGE;
  }

  @Get('docs/start.js')
  @Header('Content-Type', SCRIPT)
  start(): string {
    return START_SCRIPT;
  }

  @Get('docs/swagger-ui-bundle.js')
  @Header('Content-Type', SCRIPT)
  bundle(@Res() response: Response): void {
    response.send(this.asset('swagger-ui-bundle.js'));
  }

  @Get('docs/swagger-ui.css')
  @Header('Content-Type', 'text/css; charset=utf-8')
  style(@Res() response: Response): void {
    response.send(this.asset('swagger-ui.css'));
  }

  @Get('docs/favicon-32x32.png')
  @Header('Content-Type', 'image/png')
  icon(@Res() response: Response): void {
    response.send(this.asset('favicon-32x32.png'));
  }

  /** A file of Swagger UI, read when it is first asked for. All readers get the same bytes, however many and slow they are. */
  private asset(name: string): Buffer {
    const known = this.assets.get(name);
    if (known) return known;
    const bytes = readFileSync(join(dirname(require.resolve('swagger-ui-dist/package.json')), name));
    this.assets.set(name, bytes);
    return bytes;
  }
}
