import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, Get, Header, Inject, Req, UseFilters, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { AccessGuard, PublicRoute } from '../../libs/auth/src/index.js';
import { ErrorEnvelopeFilter } from '../../libs/errors/src/index.js';

const require = createRequire(import.meta.url);
const SWAGGER_UI = require.resolve('swagger-ui-dist/package.json');
/** The path of the files of Swagger UI. It changes with their content, so that they can be cached. */
const FILES_PATH = `docs/${(require(SWAGGER_UI) as { readonly version: string }).version}`;

/** Adds the attributes of this service to the OpenAPI document. */
export type DescribeAttributes = (document: string) => string;
/** The injection token of a DescribeAttributes, or of undefined if logs have no attributes. */
export const DESCRIBE_ATTRIBUTES = Symbol('DESCRIBE_ATTRIBUTES');

/** The page `/docs`. A proxy may have removed a prefix, so its references are relative to `{root}`. */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Time logs: the API</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="{root}{files}/swagger-ui.css" />
  </head>
  <body>
    <p>
      To send requests, press <b>Authorize</b> and paste a token: the text of <code>.data/access-token</code>, or what
      <code>npm run token -- create --name NAME</code> prints. It is forgotten when you leave the page.
    </p>
    <div id="swagger-ui"></div>
    <script src="{root}{files}/swagger-ui-bundle.js"></script>
    <script src="{root}docs/start.js"></script>
  </body>
</html>
`;

/** The script of the page. By default, Swagger UI sends the document to a validator on another host. */
const SCRIPT = `SwaggerUIBundle({
  url: new URL('../openapi.json', document.currentScript.src).href,
  dom_id: '#swagger-ui',
  persistAuthorization: false,
  validatorUrl: null,
  defaultModelsExpandDepth: -1,
});
`;

/** Allows only resources of the service, and `data:` URLs for the icons of Swagger UI. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves the OpenAPI document and a page that shows it, without a token. */
@Controller()
@UseGuards(AccessGuard)
@UseFilters(ErrorEnvelopeFilter)
export class ApiDocsController {
  private readonly text: string;

  constructor(@Inject(DESCRIBE_ATTRIBUTES) describe: DescribeAttributes | undefined) {
    const document = readFileSync(join(import.meta.dirname, 'openapi.json'), 'utf8');
    this.text = describe ? describe(document) : document;
  }

  @Get('openapi.json')
  @PublicRoute()
  @Header('Content-Type', 'application/json; charset=utf-8')
  document(): string {
    return this.text;
  }

  @Get('docs')
  @PublicRoute()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  page(@Req() { path }: Request): string {
    return PAGE.replaceAll('{root}', path.endsWith('/') ? '../' : '').replaceAll('{files}', FILES_PATH);
  }

  @Get('docs/start.js')
  @PublicRoute()
  @Header('Content-Type', 'text/javascript; charset=utf-8')
  script(): string {
    return SCRIPT;
  }

  @Get(`${FILES_PATH}/swagger-ui-bundle.js`)
  @PublicRoute()
  @Header('Content-Type', 'text/javascript; charset=utf-8')
  @Header('Cache-Control', 'public, max-age=31536000, immutable')
  bundle(): Promise<string> {
    return readFile(join(dirname(SWAGGER_UI), 'swagger-ui-bundle.js'), 'utf8');
  }

  @Get(`${FILES_PATH}/swagger-ui.css`)
  @PublicRoute()
  @Header('Content-Type', 'text/css; charset=utf-8')
  @Header('Cache-Control', 'public, max-age=31536000, immutable')
  styles(): Promise<string> {
    return readFile(join(dirname(SWAGGER_UI), 'swagger-ui.css'), 'utf8');
  }
}
