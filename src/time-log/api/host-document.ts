import type { Type } from '@nestjs/common';
import {
  describeProperties,
  describeRoutes,
  toOpenApi30,
  type Operation,
  type Operations,
  type ResponseObject,
  type Schemas,
} from '../../../libs/open-api/src/index.js';
import type { AttributesSchema } from '../domain/attributes.js';
import { EVENT_SOURCE } from '../time-log.options.js';
import { CreateTimeLogDto } from '../wire/create-time-log.dto.js';
import { ListTimeLogsDto } from '../wire/list-time-logs.dto.js';
import { withAttributesForm } from './attributes-form.js';
import { ROUTES, routesOf } from './chosen-routes.js';
import { DOCUMENT_TEXT } from './document.js';

/** What the OpenAPI document of an app has to know of one module. */
export interface HostDocument {
  /** The name of its security scheme for our routes. */
  readonly securityScheme: string;
  /** Whether a limit of requests is set. */
  readonly hasRateLimit: boolean;
  /** Whether errors have the body that a filter of the host gives them. */
  readonly hasFilter: boolean;
  /** The source of events. */
  readonly source: string;
  /** The form of attributes; undefined: logs have none. */
  readonly attributes: AttributesSchema | undefined;
}

/** The HostDocument of a module; `false`: its app makes no document. */
export const HOST_DOCUMENT = Symbol.for('time-logs.HOST_DOCUMENT');

/** The name of the scheme in our document. */
export const SECURITY_SCHEME = 'bearer';
/** The start of our paths in our document. */
const PREFIX = '/api/v1';
const FIRST_ERROR_STATUS = 400;
/** Statuses, headers and parameters that belong to the HTTP edge of the service. */
const OF_EDGE = ['408', '417', '431', 'X-Request-Id'];
/** Statuses and headers of a rate limit. */
const OF_RATE_LIMIT = ['429', 'RateLimit', 'RateLimit-Policy'];
const MISSING_SCOPE = 'the token lacks the scope ';

/** Describes the routes of one controller as they are in its app. */
export function describeIn(document: HostDocument, controller: object): void {
  const { paths, schemas } = translationFor(document);
  const operations = routesOf(controller).map((name) => {
    const [method, path] = ROUTES[name].split(' ') as [string, string];
    return [name, operationIn(document, paths[PREFIX + path]![method.toLowerCase()]!)];
  });
  describeRoutes(controller, Object.fromEntries(operations) as Record<string, Operation>, schemas);
}

/** Controllers that are made for each request share the translation, which takes milliseconds. */
const translations = new WeakMap<HostDocument, Translation>();

interface Translation {
  readonly paths: Operations['paths'];
  readonly schemas: Schemas;
}

function translationFor(document: HostDocument): Translation {
  const known = translations.get(document);
  if (known) return known;
  const { source, attributes } = document;
  const { paths, components } = toOpenApi30(documentWith(source));
  const schemas = withoutErrorCodes(components.schemas);
  const translation = {
    paths,
    schemas: attributes === undefined ? schemas : withAttributesForm(schemas, attributes),
  };
  translations.set(document, translation);
  return translation;
}

function operationIn(
  { securityScheme, hasRateLimit, hasFilter }: HostDocument,
  operation: Operation,
): Operation {
  const absent = hasRateLimit ? OF_EDGE : [...OF_EDGE, ...OF_RATE_LIMIT];
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

/** Returns our document with this source of events. */
function documentWith(source: string): object {
  return JSON.parse(DOCUMENT_TEXT, (_name, value: unknown) =>
    value === EVENT_SOURCE ? source : value,
  ) as object;
}

/** Returns a body without the examples of other scopes: our document has the examples of an error in one place. */
function withScopes(scopes: readonly string[], content: Content): Content {
  return JSON.parse(JSON.stringify(content), (_name, value: { readonly summary?: string } | null) => {
    const { summary } = value ?? {};
    const isOther = summary?.startsWith(MISSING_SCOPE) && summary !== MISSING_SCOPE + scopes.join(' ');
    return isOther ? undefined : value;
  }) as Content;
}

type Content = NonNullable<ResponseObject['content']>;

/** Leaves the list of all codes out: a guard of the host may answer with others. */
function withoutErrorCodes(schemas: Schemas): Schemas {
  const { ErrorBody } = schemas;
  const error = { ...ErrorBody!.properties!.error, enum: undefined };
  return {
    ...schemas,
    ErrorBody: { ...ErrorBody, properties: { ...ErrorBody!.properties, error } },
  } as Schemas;
}

const { paths, components } = toOpenApi30(documentWith(EVENT_SOURCE));

/** Describes the query of one of our paths, for hosts that take its DTO in a route of their own, or extend it. */
export function describeQuery(dto: Type, path: string): void {
  const query = paths[PREFIX + path]!.get!.parameters.filter((parameter) => parameter.in === 'query');
  const members = query.map(({ name, description, schema }) => [name, { ...schema, description }]);
  describeProperties(dto, Object.fromEntries(members) as Record<string, object>);
}

const { properties, required } = components.schemas.NewTimeLog!;
describeProperties(CreateTimeLogDto, properties!, required);
describeQuery(ListTimeLogsDto, '/time-logs');
