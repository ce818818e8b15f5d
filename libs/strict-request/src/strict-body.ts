import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError } from '../../errors/src/index.js';
import { headerValues, rulesOf } from '../../request-state/src/index.js';
import { readQuery } from './strict-query.js';
import { type CorrectionRules, propertiesOf, validate, validateBody } from './validate.js';

/** The maximum number of nested levels of objects and arrays. */
export const MAX_JSON_DEPTH = 8;

/** The limits of a body, and its media types. */
export interface BodyOptions {
  /** The maximum size in bytes. */
  readonly limit: number;
  /** The maximum number of nested levels. */
  readonly depth?: number;
  readonly types?: readonly string[];
}

type BodyRequest = IncomingMessage & { readonly body?: unknown };

/** Throws for bytes that are not UTF-8: replacing them by U+FFFD would change the text. Ignores a byte order mark. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Receives a request's body, unless a body parser of the host has read it. Throws DomainError UNSUPPORTED_MEDIA_TYPE or
 * PAYLOAD_TOO_LARGE. Returns a function that returns its JSON object, or throws DomainError VALIDATION_ERROR.
 */
export async function receiveJsonObject(
  request: BodyRequest,
  { limit, depth = MAX_JSON_DEPTH, types = ['application/json'] }: BodyOptions,
): Promise<() => object> {
  requireJson(request, types);
  const bytes = request.body === undefined ? await receive(request, limit) : undefined;
  return () => {
    const value = bytes ? parseJson(bytes) : request.body;
    if (!isJsonObject(value)) throw invalid('must be a JSON object');
    if (isDeeperThan(depth, value)) throw invalid(`must not be nested deeper than ${depth} levels`);
    return value;
  };
}

/**
 * Receives a body. One that has arrived, as most have, needs no listeners. Node reports its end later: it first runs
 * what its chunks have started.
 */
function receive(request: IncomingMessage, limit: number): Buffer | Promise<Buffer> {
  const tooLarge = () =>
    new DomainError('PAYLOAD_TOO_LARGE', `the request body must be at most ${limit} bytes`);
  const incomplete = () => new DomainError('REQUEST_TIMEOUT', 'the request body was not received in full');
  const length = Number(request.headers['content-length']);
  if (length > limit) throw tooLarge();
  const hasArrived = request.complete || request.readableLength === length;
  if (hasArrived && request.readableLength <= limit) {
    const body = request.read() as Buffer | null;
    // Without it a request whose end comes later would never emit `end` and `close`.
    request.resume();
    return body ?? EMPTY;
  }
  if (request.destroyed && !request.complete) throw incomplete();
  return new Promise((resolve, reject) => {
    let body: Buffer = EMPTY;
    let size = 0;
    const refuse = (error: DomainError) => {
      request.off('data', take).resume();
      reject(error);
    };
    const take = (chunk: Buffer) => {
      const start = size;
      size += chunk.length;
      if (size > limit) refuse(tooLarge());
      else if (start === 0) body = chunk;
      else {
        // A chunk of 1 byte takes 600 bytes of memory, so chunks are not kept.
        if (size > body.length) body = Buffer.concat([body], Math.min(2 * size, limit));
        body.set(chunk, start);
      }
    };
    request.on('data', take);
    request.once('end', () => resolve(body.subarray(0, size)));
    request.once('close', () => {
      if (!request.complete) refuse(incomplete());
    });
    request.once('error', () => undefined);
  });
}

const EMPTY = Buffer.alloc(0);

/** Parses JSON in UTF-8 (RFC 8259, section 8.1). Throws DomainError VALIDATION_ERROR. */
export function parseJson(bytes: Buffer): unknown {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    throw invalid('must be valid UTF-8');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('must be valid JSON');
  }
}

function invalid(rule: string): DomainError {
  return new DomainError('VALIDATION_ERROR', `the request body ${rule}`);
}

/** Returns whether a value is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member));
}

function requireJson(request: IncomingMessage, types: readonly string[]): void {
  const { 'content-type': type, 'transfer-encoding': coding, 'content-encoding': encoding } = request.headers;
  const unsupported = (message: string) => new DomainError('UNSUPPORTED_MEDIA_TYPE', message);
  if (!isJsonInUtf8(type, types)) throw unsupported(`Content-Type must be ${types.join(' or ')} in UTF-8`);
  if (headerValues(request, 'content-type').length > 1)
    throw unsupported('Content-Type must not be repeated');
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw unsupported('Transfer-Encoding must be chunked alone: send the body uncompressed');
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')
    throw unsupported('Content-Encoding must be identity: send the body uncompressed');
}

function isJsonInUtf8(contentType: string | undefined, types: readonly string[]): boolean {
  if (contentType !== undefined && types.includes(contentType)) return true;
  try {
    const type = new MIMEType(contentType ?? '');
    // TextDecoder has the labels of the WHATWG encoding standard, such as utf8, and throws for others.
    const { encoding } = new TextDecoder(type.params.get('charset') ?? 'utf-8');
    // MIMEType ignores a second or an empty charset.
    const isUnambiguous =
      (contentType?.match(/;\s*charset/gi) ?? []).length === (type.params.has('charset') ? 1 : 0);
    return types.includes(type.essence) && encoding === 'utf-8' && isUnambiguous;
  } catch {
    return false;
  }
}

// These are not pipes, because a host's global pipes would run first, with the whole request. Their
// types are explicit because Nest 11 lacks the types that Nest 12 infers.

/**
 * Injects the JSON body as a validated instance of the DTO. The body is read after the guards have run. By the rules of
 * a correction for the parameters of the path it may have fixed members, which are not injected. A query on such a
 * route is refused.
 */
export function StrictBody(
  dto: Type<object>,
  rulesFor?: (parameters: Readonly<Record<string, unknown>>) => CorrectionRules,
): ParameterDecorator {
  const read = createParamDecorator(async (_data: unknown, context: ExecutionContext): Promise<unknown> => {
    const request = context.switchToHttp().getRequest<Request>();
    refuseQuery(request);
    const { bodyLimit: limit } = rulesOf(request);
    const parse = await receiveJsonObject(request, { limit });
    return validateBody(request, dto, parse(), rulesFor?.(request.params));
  });
  return read();
}

const PATCH_TYPES = ['application/merge-patch+json', 'application/json'];

/**
 * Injects a function that returns a JSON Merge Patch (RFC 7396), since a host's pipe may change objects. `validateBody`
 * checks the result of the patch. A query on such a route is refused.
 */
export const MergePatch: () => ParameterDecorator = createParamDecorator(
  async (_data: unknown, context: ExecutionContext) => {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    refuseQuery(request);
    try {
      const { bodyLimit: limit } = rulesOf(request);
      const parse = await receiveJsonObject(request, { limit, types: PATCH_TYPES });
      const patch = parse();
      return () => patch;
    } catch (error) {
      // RFC 5789, section 2.2.
      if (error instanceof DomainError && error.code === 'UNSUPPORTED_MEDIA_TYPE')
        http.getResponse<Response>().setHeader('Accept-Patch', PATCH_TYPES.join(', '));
      throw error;
    }
  },
);

/** Injects the headers of the DTO as a validated instance of it. Other headers are ignored. */
export const StrictHeaders: (dto: Type<object>) => ParameterDecorator = createParamDecorator(
  (dto: Type<object>, context: ExecutionContext) => {
    const request = context.switchToHttp().getRequest<Request>();
    const values: Record<string, string> = {};
    const repeated = new Set<string>();
    for (const name of propertiesOf(dto).keys()) {
      const [value, second] = headerValues(request, name.toLowerCase());
      if (value === undefined) continue;
      values[name] = value;
      if (second !== undefined) repeated.add(name);
    }
    return validate(dto, values, { noun: 'header', repeated });
  },
);

class NoParameters {}

/** Throws DomainError VALIDATION_ERROR if a request with a body has a query, which nothing would read. */
export function refuseQuery({ originalUrl }: { readonly originalUrl: string }): void {
  if (originalUrl.includes('?')) validate(NoParameters, readQuery(originalUrl).values, { noun: 'parameter' });
}
