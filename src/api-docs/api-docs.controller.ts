import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyDecorators, Controller, Get, Header, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { BearerAuthGuard, PublicRoute } from '../../libs/auth/src/index.js';
import { ErrorEnvelopeFilter } from '../../libs/errors/src/index.js';
import { CONTENT_SECURITY_POLICY, FILES_PATH, ownFile, pageAt, swaggerUi } from './docs-files.js';
import { encoded } from './encoded.js';

const JAVASCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
/** Declares the route of a cacheable file of the page. Its path changes with its content. */
const PageFile = (name: string, type: string) =>
  applyDecorators(
    Get(`${FILES_PATH}/${name}`),
    PublicRoute(),
    Header('Content-Type', type),
    Header('Cache-Control', 'public, max-age=31536000, immutable'),
  );

/** Serves the OpenAPI document and a page that shows it, without a token. */
@Controller()
@UseGuards(BearerAuthGuard)
@UseFilters(ErrorEnvelopeFilter)
export class ApiDocsController {
  private readonly sendDocument = encoded(() => readFileSync(join(import.meta.dirname, 'openapi.json')));
  private readonly sendPageScript = ownFile('page.js');
  private readonly sendSamples = ownFile('samples.js');
  private readonly sendPageStyle = ownFile('page.css');
  private readonly sendBundle = swaggerUi('swagger-ui-bundle.js');
  private readonly sendStyle = swaggerUi('swagger-ui.css');
  private readonly sendIcon = swaggerUi('favicon-32x32.png');

  @Get('openapi.json')
  @PublicRoute()
  @Header('Content-Type', 'application/json; charset=utf-8')
  document(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.sendDocument(request, response);
  }

  @Get('docs')
  @PublicRoute()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  page(@Req() { path }: Request): string {
    return pageAt(path);
  }

  @PageFile('page.js', JAVASCRIPT)
  pageScript(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.sendPageScript(request, response);
  }

  @PageFile('samples.js', JAVASCRIPT)
  samples(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.sendSamples(request, response);
  }

  @PageFile('page.css', CSS)
  pageStyle(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.sendPageStyle(request, response);
  }

  @PageFile('swagger-ui-bundle.js', JAVASCRIPT)
  bundle(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.sendBundle(request, response);
  }

  @PageFile('swagger-ui.css', CSS)
  style(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.sendStyle(request, response);
  }

  @PageFile('favicon-32x32.png', 'image/png')
  icon(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.sendIcon(request, response);
  }
}
