import type { INestApplication } from '@nestjs/common';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { ErrorKind } from '../../libs/errors/src/index.js';
import { type TellableLimits, withEdge } from '../../libs/http-edge/src/index.js';
import { openApi31, type OpenApiDocument, phraseOf, type TagObject } from '../../libs/open-api/src/index.js';

/** What the document says about the service as a whole. */
export interface Contents {
  /** That of the package. */
  readonly version: string;
  readonly errors: readonly ErrorKind[];
  readonly scopes: readonly { readonly name: string; readonly allows: string }[];
  readonly tags: readonly TagObject[];
  readonly limits: TellableLimits;
}

/** The OpenAPI document of the service. It is gathered from the routes, as in any Nest app. */
export function openApiText(
  app: INestApplication,
  { version, errors, scopes, tags, limits }: Contents,
): string {
  const document = SwaggerModule.createDocument(app, {
    openapi: '3.0.0',
    info: { title: 'Time logs', version },
    servers: [{ url: '/', description: 'The deployment that serves this document' }],
    security: [{ bearer: [] }],
    tags: [...tags],
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: tokenText(scopes) },
      },
    },
  });
  const { openapi, info, ...rest } = openApi31(withEdge(document, limits));
  tellCodes(rest.components as Components, errors);
  const told = errorTable(errors, rest.components.responses);
  const text = {
    ...info,
    summary: 'Records and lists time logs.',
    description: serviceText([...openPathsOf(document), '/docs'], told),
    license: { name: 'MIT', identifier: 'MIT' },
  };
  return `${JSON.stringify({ openapi, info: text, ...rest }, undefined, 2)}\n`;
}

interface Components {
  readonly schemas: { readonly ErrorBody: { readonly properties: { readonly error: { enum?: string[] } } } };
}

/** Lists all codes in the schema of errors: a module that describes its routes knows only its own. */
function tellCodes({ schemas }: Components, errors: Contents['errors']): void {
  schemas.ErrorBody.properties.error.enum = errors.map(({ code }) => code);
}

function tokenText(scopes: Contents['scopes']): string {
  return [
    'An access token, or a JWT where the deployment trusts an issuer, in the `Authorization` header (RFC 6750) and nowhere else. Scopes:',
    scopes.map(({ name, allows }) => `- \`${name}\`: ${allows}`).join('\n'),
    'A token may be bound to projects. It may expire, and can be revoked at any time.',
  ].join('\n\n');
}

function serviceText(openPaths: readonly string[], errors: string): string {
  const open = openPaths.map((path) => `\`${path}\``);
  return [
    'A time log says that somebody worked on a project, on a day, for how long and at what. It is a finished fact: recorded once, and corrected or deleted only by whoever has a scope for it.',
    `**Tokens.** Every request needs \`Authorization: Bearer TOKEN\`, \`GET /health\` included. Open are only ${open.slice(0, -1).join(', ')} and ${open.at(-1)}. ` +
      'A log has no owner: a token is for all logs of the deployment, unless it is bound to some projects.',
    '**Errors.** Every answer that is not a success is `{"success":false,"error":CODE,"message":TEXT}`, with one code for each status:',
    errors,
    '`404` and `405` are only for the holder of a token: `401` precedes them. HEAD is answered as GET, without the body.',
    '**Compatibility.** `/api/v1` only grows: new optional fields, parameters and headers. A client must ignore members of an answer that it does not know. ' +
      'Anything else becomes `/api/v2`, with 12 months of overlap and `Deprecation` and `Sunset` headers.',
  ].join('\n\n');
}

/** Each error, once: operations only say when it comes where they know it better. */
function errorTable(
  errors: Contents['errors'],
  responses: OpenApiDocument['components']['responses'],
): string {
  const rows = errors.flatMap(({ code, status }) => {
    const { description } = responses[phraseOf(status)] ?? {};
    return description === undefined ? [] : [`| ${status} | \`${code}\` | ${description} |`];
  });
  return ['| status | error | when |', '|---|---|---|', ...rows].join('\n');
}

function openPathsOf({ paths }: OpenAPIObject): string[] {
  return Object.keys(paths).filter((path) => JSON.stringify(paths[path]?.get?.security) === '[{}]');
}
