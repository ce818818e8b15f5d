import { readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { Controller, Get, Header, Inject, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { BearerAuthGuard, PublicRoute } from '../../libs/auth/src/index.js';
import { ErrorEnvelopeFilter } from '../../libs/errors/src/index.js';
import { CONTENT_SECURITY_POLICY, FILES_PATH, pageAt, SENDERS } from './docs-files.js';
import { encoded } from './encoded.js';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.png': 'image/png',
};

/** Adds the attributes of this service to the OpenAPI document. */
export type DescribeAttributes = (document: string) => string;
/** The injection token of a DescribeAttributes, or of undefined if logs have no attributes. */
export const DESCRIBE_ATTRIBUTES = Symbol('DESCRIBE_ATTRIBUTES');

/** Serves the OpenAPI document and a page that shows it, without a token. */
@Controller()
@UseGuards(BearerAuthGuard)
@UseFilters(ErrorEnvelopeFilter)
export class ApiDocsController {
  private readonly sendDocument = encoded(() => {
    const document = readFileSync(join(import.meta.dirname, 'openapi.json'));
    return this.describe ? Buffer.from(this.describe(document.toString())) : document;
  });

  constructor(@Inject(DESCRIBE_ATTRIBUTES) private readonly describe: DescribeAttributes | undefined) {}

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

  /** Sends a cacheable file of the page. Its path changes with its content. */
  @Get([...SENDERS.keys()].map((name) => `${FILES_PATH}/${name}`))
  @PublicRoute()
  @Header('Cache-Control', 'public, max-age=31536000, immutable')
  file(@Req() request: Request, @Res() response: Response): Promise<void> {
    // The path of the request may have another case and a slash at its end.
    const name = basename((request.route as { readonly path: string }).path);
    response.setHeader('Content-Type', TYPES[extname(name)]!);
    return SENDERS.get(name)!(request, response);
  }
}
