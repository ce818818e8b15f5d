import { STATUS_CODES } from 'node:http';
import { join } from 'node:path';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import {
  type Content,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  pathOf,
  type Reference,
  type Response,
  type Schema,
} from './open-api.js';
import { parsed } from './raw-http.js';
import type { CloudEvent } from '../../src/feed/index.js';

export interface DocumentedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

export interface DocumentedAnswer {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

declare global {
  /** Imports a module outside of Jest's own modules. */
  var importOnce: (specifier: string) => Promise<unknown>;
}

/** Loaded once for all test files of a worker: to compile the schemas takes long. */
const { document, ROOT, validatorOf } = (await importOnce(
  join(import.meta.dirname, 'document-validator.mjs'),
)) as {
  readonly document: OpenApiDocument;
  readonly ROOT: string;
  readonly validatorOf: (schema: Schema) => ValidateFunction;
};

/** Throws where the OpenAPI document does not describe an answer, or forbids a request that was accepted. */
export function expectDocumented(request: DocumentedRequest, answer: DocumentedAnswer): void {
  // A preflight request of a browser is no operation.
  if (request.method === 'OPTIONS' && answer.status === 204) return;
  const faults = [...faultsOfAnswer(request, answer)];
  if (answer.status < 300) faults.push(...faultsOfRequest(request));
  if (faults.length === 0) return;
  const { method, path } = request;
  throw new Error(
    `the OpenAPI document does not describe ${method} ${path}, answered with ${answer.status}:\n- ${faults.join('\n- ')}\n${answer.text.slice(0, 500)}`,
  );
}

function* faultsOfAnswer({ method, path }: DocumentedRequest, { status, headers, text }: DocumentedAnswer) {
  const response = responsesOf(method, path)[status];
  if (!response) {
    yield `the status ${status} is not in the document`;
    return;
  }
  const { headers: documented, content } = resolved(response);
  for (const [name, reference] of Object.entries(documented)) {
    const { required, schema } = resolved(reference);
    const value = headers[name.toLowerCase()];
    if (value !== undefined) yield* faultsOf(`header ${name}`, schema, fromText(schema, value));
    else if (required) yield `header ${name}: is missing`;
  }
  // Frameworks add it to every body.
  if (headers.etag !== undefined && !('ETag' in documented)) yield 'header ETag: is not in the document';
  if (content === undefined) {
    if (text !== '' || headers['content-type'] !== undefined) yield 'body: is not in the document';
    return;
  }
  const type = headers['content-type'];
  const types = Object.entries(content);
  const [mediaType, { schema, examples }] = types.find(([name]) => type?.startsWith(name)) ?? types[0]!;
  if (type !== `${mediaType}${PARAMETERS_OF_TYPES[mediaType] ?? '; charset=utf-8'}`) {
    yield `header Content-Type: is ${type}, not ${mediaType} in UTF-8`;
  } else if (method !== 'HEAD') {
    // No schema allows undefined.
    const body = /[/+]json$/.test(mediaType) ? parsed(text) : text;
    yield* faultsOf('body', schema, body);
    yield* faultsOfEnvelope(status, body, examples);
  }
}

/** The document says in words what generators of clients cannot take: one value of `success`, one code of a status. */
function* faultsOfEnvelope(status: number, body: unknown, examples: Content[string]['examples']) {
  const { success = status < 400, error } = Object(body) as { success?: unknown; error?: unknown };
  if (success !== status < 400) yield `body/success: is ${String(success)}`;
  const codes = Object.values(examples).map(({ value }) => (Object(value) as { error?: unknown }).error);
  if (status >= 400 && !codes.includes(error)) yield `body/error: is none of ${codes.join(', ')}`;
}

function* faultsOfRequest({ method, path, headers = {}, body }: DocumentedRequest) {
  const operation = operationOf(method, path);
  if (!operation) return;
  const parameters = operation.parameters.map(resolved);
  const find = (place: Parameter['in'], given: string) =>
    parameters.find(({ in: where, name }) => where === place && name.toLowerCase() === given.toLowerCase());
  for (const [name, value] of new URL(path, 'http://service').searchParams) {
    const parameter = find('query', name);
    if (parameter) yield* faultsOf(`parameter ${name}`, parameter.schema, fromText(parameter.schema, value));
    else yield `parameter ${name}: is not in the document`;
  }
  const [template, segments] = [pathOf(path, PATHS)!, path.split('?')[0]!].map((text) => text.split('/'));
  for (const { in: place, name, schema } of parameters) {
    if (place !== 'path') continue;
    yield* faultsOf(`parameter ${name}`, schema, segments![template!.indexOf(`{${name}}`)]);
  }
  for (const [name, value] of Object.entries(headers)) {
    const parameter = find('header', name);
    if (parameter && value !== undefined) yield* faultsOf(`header ${name}`, parameter.schema, value);
  }
  if (operation.requestBody && typeof body === 'string') {
    yield* faultsOf(
      'request body',
      operation.requestBody.content['application/json']!.schema,
      // In a merge patch `null` removes a member, which the document says in words.
      JSON.parse(body.replace(/^\uFEFF/, ''), (_name, value: unknown) =>
        method === 'PATCH' && value === null ? undefined : value,
      ),
    );
  }
}

function faultsOf(what: string, schema: Schema, value: unknown): string[] {
  const validate = validatorOf(schema);
  validate(value);
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${what}${instancePath}: ${message} ${JSON.stringify(params)}`,
  );
}

const PATHS = Object.keys(document.paths);

function pathItemOf(target: string): Partial<Record<string, Operation>> | undefined {
  const path = pathOf(target, PATHS);
  return path === undefined ? undefined : document.paths[path];
}

function operationOf(method: string, path: string): Operation | undefined {
  return pathItemOf(path)?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
}

/** The parameters of types that have others than the charset. */
const PARAMETERS_OF_TYPES: Readonly<Record<string, string>> = {
  'text/csv': '; charset=utf-8; header=present',
  'application/x-ndjson': '',
};

/** The answers to any path and method. */
const ANYWHERE = [400, 401, 408, 417, 429, 431, 500, 503];

function responsesOf(method: string, path: string): Readonly<Record<string, Response | Reference>> {
  const operation = operationOf(method, path);
  if (operation) return operation.responses;
  const statuses = [...ANYWHERE, pathItemOf(path) ? 405 : 404];
  return Object.fromEntries(statuses.map((status) => [status, errorOf(status)]));
}

/** The named response of the document for a status. */
function errorOf(status: number): Response {
  return document.components.responses[STATUS_CODES[status]!.replaceAll(' ', '')]!;
}

function resolved<T extends object>(value: T | Reference): T {
  if (!('$ref' in value)) return value;
  const names = value.$ref.slice(ROOT.length).split('/');
  return names.reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], document) as T;
}

/** The value that the text of a header or a parameter means. */
function fromText({ type }: Schema, text: string): unknown {
  return type === 'integer' && /^\d+$/.test(text) ? Number(text) : text;
}

const ANSWERS: Readonly<Record<string, string>> = {
  'time-log.record.v1': 'TimeLogRecorded',
  'time-log.list.v1': 'TimeLogList',
  'time-log.totals.v1': 'Totals',
};
const validators = new Map<string, ValidateFunction>();

/** Throws unless a schema of the OpenAPI document describes a value. */
function expectDescribed(name: string, value: unknown): void {
  const validate = validators.get(name) ?? validatorOf({ $ref: `openapi.json#/components/schemas/${name}` });
  validators.set(name, validate);
  if (!validate(value)) throw new Error(`${name} does not describe it: ${JSON.stringify(validate.errors)}`);
}

/** Throws unless the answer to a message is a body that HTTP answers too. Hosts may answer in other ways. */
export function expectDescribedMessage(pattern: string, body: unknown): void {
  const { success, replayed, ...rest } = Object(body) as { success?: boolean; replayed?: boolean };
  if (success === undefined) return;
  const isReplay = pattern === 'time-log.record.v1' && replayed === true;
  expectDescribed(success ? ANSWERS[pattern]! : 'ErrorBody', isReplay ? { success, ...rest } : body);
}

/** Throws unless an event is one of the feed. */
export function expectDescribedEvent(event: CloudEvent): void {
  expectDescribed('TimeLogEvent', event);
}
