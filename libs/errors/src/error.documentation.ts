import type { Headers, ResponseObject, Responses, SchemaObject } from '../../open-api/src/index.js';
import { ERROR_KINDS, type ErrorCode, type ErrorKind } from './error-kinds.js';

const ERROR_BODY: SchemaObject = {
  title: 'ErrorBody',
  type: 'object',
  description: 'The body of every answer that is not a success.',
  required: ['success', 'error', 'message'],
  properties: {
    success: { type: 'boolean', enum: [false] },
    error: {
      type: 'string',
      description: 'For programs: one code for each status.',
    },
    message: {
      type: 'string',
      minLength: 1,
      description:
        'For people: names the field and the rule, several of them joined with `; `, and never repeats a value that was sent.',
    },
  },
};

/** `Retry-After` (RFC 9110, section 10.2.3), a header of the answers 429 and 503. */
export const RETRY_AFTER_HEADER: Headers = {
  'Retry-After': {
    description: 'Seconds after which to try again.',
    required: true,
    schema: { type: 'integer', minimum: 1, example: 1 },
  },
};

/** Describes the answer for a kind: when it comes, and examples of its messages (without any: the kind's own). */
export function errorAnswer(
  kind: ErrorCode | ErrorKind,
  when: string,
  { messages, headers = {} }: { readonly messages?: readonly string[]; readonly headers?: Headers } = {},
): ResponseObject {
  const { code, message: text } = typeof kind === 'string' ? ERROR_KINDS[kind] : kind;
  const examples = (messages ?? [text]).map((message, index) => [
    index === 0 ? code : `${code}_${index + 1}`,
    { summary: message, value: { success: false, error: code, message } },
  ]);
  return {
    description: when,
    headers,
    content: {
      'application/json': {
        schema: {
          title: `${nameOf(code)}Body`,
          allOf: [
            ERROR_BODY,
            { required: ['error'], properties: { error: { type: 'string', enum: [code] } } },
          ],
        },
        examples: Object.fromEntries(examples) as Record<string, { value: unknown }>,
      },
    },
  };
}

/** `NOT_FOUND` is `NotFound`. */
function nameOf(code: string): string {
  return code.toLowerCase().replace(/(?:^|_)(.)/g, (_match, first: string) => first.toUpperCase());
}

/** The answers of a route that needs more than this process. */
export const FAULT_ANSWERS: Responses = {
  500: errorAnswer('INTERNAL_ERROR', 'A fault of the service; the details are in its log.'),
  503: errorAnswer('SERVICE_UNAVAILABLE', 'The database is away, the service is overloaded or shuts down.', {
    headers: RETRY_AFTER_HEADER,
  }),
};
