import type { Type } from '@nestjs/common';
import {
  describeProperties,
  describeRoutes,
  toOpenApi30,
  type Operation,
  type Operations,
  type ResponseObject,
  type Schemas,
} from '../../../open-api/src/index.js';
import { CreateTimeLogDto, DEFAULT_EVENT_SOURCE, ListTimeLogsDto } from '../../../../src/time-log/index.js';
import { TotalTimeLogsDto } from '../../../../src/totals/index.js';
import {
  type AttributeFilters,
  attributesIn30,
  type AttributesSchema,
  filterParameters,
  requiresAttributes,
  withAttributes,
} from '../../../attributes/src/index.js';
import { ROUTES, routesOf } from './enabled-routes.js';
import { DOCUMENT_TEXT } from './document.js';

/** The properties of a module that its OpenAPI document depends on. */
export interface HostDocument {
  /** The name of the security scheme of the app. */
  readonly securityScheme: string;
  /** Whether requests are limited. */
  readonly hasRateLimit: boolean;
  /** Whether a filter of the host writes the bodies of errors. */
  readonly hasFilter: boolean;
  /** The source of events. */
  readonly source: string;
  /** The schema of attributes; undefined: logs have none. */
  readonly attributes: AttributesSchema | undefined;
  /** The attributes by which logs can be filtered. */
  readonly filters: AttributeFilters;
}

/** The injection token of the HostDocument of a module, or of `false` if its app has no document. */
export const HOST_DOCUMENT = Symbol.for('time-logs.HOST_DOCUMENT');

/** The name of the security scheme in our document. */
export const SECURITY_SCHEME = 'bearer';
/** The prefix of the paths in our document. */
const PREFIX = '/api/v1';
/** The routes with a filter. */
const FILTERED = ['list', 'totals', 'export'];
const FIRST_ERROR_STATUS = 400;
/** Statuses, headers and parameters of the HTTP edge, which hosts do not have. */
const EDGE_PARTS = ['408', '417', '431', 'X-Request-Id'];
/** Statuses and headers of a rate limit. */
const RATE_LIMIT_PARTS = ['429', 'RateLimit', 'RateLimit-Policy'];
const MISSING_SCOPE = 'the token lacks the scope ';

/** Describes the routes of one controller as they are in its app. */
export function describeController(document: HostDocument, controller: object): void {
  const { paths, schemas } = translationFor(document);
  const operations = routesOf(controller).map((name) => {
    const [method, path] = ROUTES[name].split(' ') as [string, string];
    const operation = operationIn(document, paths[PREFIX + path]![method.toLowerCase()]!);
    if (!FILTERED.includes(name)) return [name, operation];
    const parameters = [...operation.parameters, ...filterParameters(document.filters)];
    return [name, { ...operation, parameters }];
  });
  describeRoutes(controller, Object.fromEntries(operations) as Record<string, Operation>, schemas);
}

/** Translations take milliseconds, so request-scoped controllers share them. */
const translations = new WeakMap<HostDocument, Translation>();

interface Translation {
  readonly paths: Operations['paths'];
  readonly schemas: Schemas;
}

function translationFor(document: HostDocument): Translation {
  const existing = translations.get(document);
  if (existing) return existing;
  const { source, attributes } = document;
  const isRequired = attributes ? requiresAttributes(attributes) : false;
  const { paths, components } = toOpenApi30(documentWith(source, isRequired === false));
  const schemas = withoutErrorCodes(components.schemas);
  const translation = {
    paths,
    schemas:
      attributes === undefined ? schemas : withAttributes(schemas, attributesIn30(attributes), isRequired),
  };
  translations.set(document, translation);
  return translation;
}

function operationIn(
  { securityScheme, hasRateLimit, hasFilter }: HostDocument,
  operation: Operation,
): Operation {
  const absent = hasRateLimit ? EDGE_PARTS : [...EDGE_PARTS, ...RATE_LIMIT_PARTS];
  const scopes = operation.security[0]![SECURITY_SCHEME]!;
  const present = <Value>(parts: Readonly<Record<string, Value>> = {}) =>
    Object.entries(parts).filter(([name]) => !absent.includes(name));
  const responses = present(operation.responses).map(([status, { headers, content, ...response }]) => [
    status,
    {
      ...response,
      headers: Object.fromEntries(present(headers)),
      ...(content &&
        !(hasFilter && Number(status) >= FIRST_ERROR_STATUS) && { content: withScopes(scopes, content) }),
    },
  ]);
  return {
    ...operation,
    security: [{ [securityScheme]: scopes }],
    parameters: operation.parameters.filter(({ name }) => !absent.includes(name)),
    responses: Object.fromEntries(responses) as Operation['responses'],
  };
}

/** Returns our document with this source of events, and with examples of new logs, which have no attributes. */
function documentWith(source: string, hasExamples = true): object {
  return JSON.parse(
    DOCUMENT_TEXT,
    (_name, value: { readonly schema?: { readonly $ref?: string } } | null) => {
      const { schema } = value ?? {};
      if (!hasExamples && /[/]NewTimeLogs?$/.test(schema?.$ref ?? '')) return { schema };
      return (value as unknown) === DEFAULT_EVENT_SOURCE ? source : value;
    },
  ) as object;
}

/** Removes the error examples of other scopes, which our document shares between operations. */
function withScopes(scopes: readonly string[], content: Content): Content {
  return JSON.parse(JSON.stringify(content), (_name, value: { readonly summary?: string } | null) => {
    const { summary } = value ?? {};
    const isOther = summary?.startsWith(MISSING_SCOPE) && summary !== MISSING_SCOPE + scopes.join(' ');
    return isOther ? undefined : value;
  }) as Content;
}

type Content = NonNullable<ResponseObject['content']>;

/** Removes the list of error codes, since a guard of the host may return others. */
function withoutErrorCodes(schemas: Schemas): Schemas {
  const { ErrorBody } = schemas;
  const error = { ...ErrorBody!.properties!.error, enum: undefined };
  return {
    ...schemas,
    ErrorBody: { ...ErrorBody, properties: { ...ErrorBody!.properties, error } },
  } as Schemas;
}

const { paths, components } = toOpenApi30(documentWith(DEFAULT_EVENT_SOURCE));

/** Describes the query of a path, for hosts that use or extend its DTO in routes of their own. */
function describeQuery(dto: Type, path: string): void {
  const query = paths[PREFIX + path]!.get!.parameters.filter((parameter) => parameter.in === 'query');
  const fields = query.map(({ name, description, schema }) => [name, { ...schema, description }]);
  describeProperties(dto, Object.fromEntries(fields) as Record<string, object>);
}

const { properties, required } = components.schemas.NewTimeLog!;
describeProperties(CreateTimeLogDto, properties!, required);
describeQuery(ListTimeLogsDto, '/time-logs');
describeQuery(TotalTimeLogsDto, '/time-logs/totals');
