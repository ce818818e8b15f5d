import { open } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Controller, Get, Header, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CONTENT_SECURITY_POLICY, DOCS_PAGE, START_SCRIPT } from './docs-page.js';
import { openApiText } from './open-api.document.js';

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
  bundle(@Res() response: Response): Promise<void> {
    return sendAsset(response, 'swagger-ui-bundle.js');
  }

  @Get('docs/swagger-ui.css')
  @Header('Content-Type', 'text/css; charset=utf-8')
  style(@Res() response: Response): Promise<void> {
    return sendAsset(response, 'swagger-ui.css');
  }

  @Get('docs/favicon-32x32.png')
  @Header('Content-Type', 'image/png')
  icon(@Res() response: Response): Promise<void> {
    return sendAsset(response, 'favicon-32x32.png');
  }
}

/** Streams a file of Swagger UI from the disk: the bundle is 1.5 MB, which many slow readers must not multiply. */
async function sendAsset(response: Response, name: string): Promise<void> {
  const directory = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const file = await open(join(directory, name));
  response.setHeader('Content-Length', (await file.stat()).size);
  // A reader that goes away early is no fault of the service.
  await pipeline(file.createReadStream(), response).catch(() => undefined);
}
