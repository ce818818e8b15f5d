import type { OpenAPIObject } from '@nestjs/swagger';
import { errorAnswer } from '../../errors/src/index.js';
import {
  type Headers,
  type OperationObject,
  type ParameterObject,
  type RequestBodyObject,
  type ResponseObject,
  type Responses,
  withExamples,
} from '../../open-api/src/index.js';
import type { RequestLimits } from './http-edge.options.js';

/** The limits that a client can meet. */
export type TellableLimits = Pick<RequestLimits, 'headersTimeout' | 'requestTimeout' | 'bodyLimit'> & {
  /** Bytes of request line and headers. */
  readonly headersLimit: number;
};

const KIBIBYTE = 1024;
const unlessSet = 'unless the deployment has set another limit';

const REQUEST_ID: ParameterObject = {
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  description:
    'An id for the request: 1 to 128 of `A-Z a-z 0-9 . _ ~ : + / = @ -`. It is answered and logged; one in any other form is replaced, not refused.',
  schema: withExamples({ type: 'string' }, 'import-2026-01-31.17'),
};

const REQUEST_ID_HEADER: Headers = {
  'X-Request-Id': {
    description: 'Names the request in the log of the service: the id that the caller sent, else a new one.',
    required: true,
    schema: { type: 'string', example: '0b6e3b52-6f0e-4b7a-9a38-0f6f6f0f1c55' },
  },
};

/** The answers that any request may get before it reaches its route. */
function anyAnswers({ headersTimeout, requestTimeout, headersLimit }: TellableLimits): Responses {
  return {
    400: errorAnswer(
      'VALIDATION_ERROR',
      'A value fails validation, or the request is malformed HTTP or has not exactly one `Host` header.',
    ),
    408: errorAnswer(
      'REQUEST_TIMEOUT',
      `The headers did not arrive within ${headersTimeout / 1000} seconds, or the request within ${requestTimeout / 1000}, ${unlessSet}.`,
    ),
    417: errorAnswer(
      'EXPECTATION_FAILED',
      'The `Expect` header asks for something else than `100-continue`.',
    ),
    431: errorAnswer(
      'HEADERS_TOO_LARGE',
      `The request line and headers are over ${headersLimit / KIBIBYTE} KiB, ${unlessSet}.`,
    ),
  };
}

/** The answers of unknown paths and methods to a valid token. */
const UNKNOWN: Responses = {
  404: errorAnswer('NOT_FOUND', 'There is no such path.'),
  405: errorAnswer('METHOD_NOT_ALLOWED', 'The path takes other methods: see `Allow`.', {
    headers: {
      Allow: {
        description: 'The methods that the path takes.',
        required: true,
        schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$', example: 'GET, HEAD, POST' },
      },
    },
  }),
};

/** The document of an app, with what the edge adds to each route, and with its own answers under their statuses. */
export function withEdge(document: OpenAPIObject, limits: TellableLimits): OpenAPIObject {
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const operations = Object.entries(item as Record<string, OperationObject>).map(([method, operation]) => [
      method,
      operationWithEdge(operation, limits),
    ]);
    return [path, Object.fromEntries(operations) as object];
  });
  return {
    ...document,
    paths: Object.fromEntries(paths) as OpenAPIObject['paths'],
    components: { ...document.components, responses: withRequestId({ ...anyAnswers(limits), ...UNKNOWN }) },
  };
}

function operationWithEdge(operation: OperationObject, limits: TellableLimits): OperationObject {
  const { parameters = [], requestBody, responses } = operation;
  const most = `${limits.bodyLimit / KIBIBYTE} KiB, ${unlessSet}`;
  return {
    ...operation,
    parameters: [...parameters, REQUEST_ID],
    responses: withRequestId({
      ...anyAnswers(limits),
      ...(responses as Responses),
      ...(requestBody && {
        413: errorAnswer('PAYLOAD_TOO_LARGE', `The body is over ${most}.`, {
          messages: [`the request body must be at most ${limits.bodyLimit} bytes`],
        }),
      }),
    }),
    ...(requestBody && {
      requestBody: {
        ...requestBody,
        description: `At most ${most}: ${(requestBody as RequestBodyObject).description}`,
      },
    }),
  };
}

function withRequestId(answers: Responses): Record<string, ResponseObject> {
  return Object.fromEntries(
    Object.entries(answers as Record<string, ResponseObject>).map(([status, answer]) => [
      status,
      { ...answer, headers: { ...answer.headers, ...REQUEST_ID_HEADER } },
    ]),
  );
}
