import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import { DomainError } from '../../errors/src/index.js';
import { headerValues } from './header-values.js';
import { type Stateful, STATE } from './request-state.js';

/** The maximum number of nested levels of objects and arrays. */
export const MAX_JSON_DEPTH = 8;

/** The options of a body. */
export interface BodyOptions {
  /** The media types that it may have. */
  readonly types?: readonly string[];
  /** The maximum size in bytes. */
  readonly limit?: number | undefined;
  /** The maximum number of nested levels. */
  readonly depth?: number;
}

/**
 * Returns the JSON object in a request's body, which a body parser of the host may have read.
 * Throws DomainError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or VALIDATION_ERROR, in this order.
 */
export async function readJsonObject(
  request: IncomingMessage & { body?: unknown },
  options: BodyOptions = {},
): Promise<object> {
  const { types = ['application/json'], depth = MAX_JSON_DEPTH } = options;
  requireJson(request, types);
  const bytes = request.body === undefined ? await readBody(request, options) : undefined;
  const value = bytes ? parseJson(bytes, 'the request body') : request.body;
  if (!isJsonObject(value))
    throw new DomainError('VALIDATION_ERROR', 'the request body must be a JSON object');
  if (isDeeperThan(depth, value))
    throw new DomainError(
      'VALIDATION_ERROR',
      `the request body must not be nested deeper than ${depth} levels`,
    );
  return value;
}

function requireJson(request: IncomingMessage, types: readonly string[]): void {
  const { headers } = request;
  if (!isJsonInUtf8(headers['content-type'], types))
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', `Content-Type must be ${types.join(' or ')} in UTF-8`);
  if (headerValues(request, 'content-type').length > 1)
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must not be repeated');
  if ((headers['transfer-encoding'] ?? 'chunked').toLowerCase() !== 'chunked')
    throw new DomainError(
      'UNSUPPORTED_MEDIA_TYPE',
      'Transfer-Encoding must be chunked alone: send the body uncompressed',
    );
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity')
    throw new DomainError(
      'UNSUPPORTED_MEDIA_TYPE',
      'Content-Encoding must be identity: send the body uncompressed',
    );
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

function readBody(
  request: IncomingMessage & Stateful,
  { limit = request[STATE]?.bodyLimit }: BodyOptions,
): Promise<Buffer> {
  if (limit === undefined) throw new Error('applyRules must be called before a body is read');
  const announced = Number(request.headers['content-length'] ?? 0);
  return new Promise((resolve, reject) => {
    let body: Buffer = EMPTY;
    let size = 0;
    const refuse = (error: DomainError) => {
      request.removeListener('data', take);
      request.resume();
      reject(error);
    };
    const tooLarge = () =>
      new DomainError('PAYLOAD_TOO_LARGE', `the request body must be at most ${limit} bytes`);
    const incomplete = () => new DomainError('REQUEST_TIMEOUT', 'the request body was not received in full');
    const take = (chunk: Buffer) => {
      const end = size + chunk.length;
      if (end > limit) {
        refuse(tooLarge());
        return;
      }
      if (size === 0) {
        body = chunk;
      } else {
        // A chunk of 1 byte takes 600 bytes of memory, so chunks are not kept.
        if (end > body.length) body = enlarged(body, Math.min(2 * end, announced || limit));
        body.set(chunk, size);
      }
      size = end;
    };
    if (request.destroyed && !request.complete) {
      reject(incomplete());
      return;
    }
    if (announced > limit) throw tooLarge();
    request.on('data', take);
    request.once('end', () => resolve(body.length === size ? body : body.subarray(0, size)));
    request.once('close', () => {
      if (!request.complete) refuse(incomplete());
    });
    request.once('error', () => undefined);
  });
}

const EMPTY = Buffer.alloc(0);

function enlarged(bytes: Buffer, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  buffer.set(bytes);
  return buffer;
}

/**
 * Parses JSON in UTF-8 and ignores a byte order mark before it (RFC 8259, section 8.1). Throws
 * DomainError VALIDATION_ERROR, whose message begins with `noun`.
 */
export function parseJson(bytes: Buffer, noun: 'the request body' | 'the message'): unknown {
  // Decoding would replace invalid bytes with U+FFFD, and so store another text.
  if (!isUtf8(bytes)) throw new DomainError('VALIDATION_ERROR', `${noun} must be valid UTF-8`);
  try {
    return JSON.parse(bytes.toString().replace(/^\uFEFF/, ''));
  } catch {
    throw new DomainError('VALIDATION_ERROR', `${noun} must be valid JSON`);
  }
}

/** Returns whether a value is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member));
}
