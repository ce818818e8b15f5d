import fc from 'fast-check';

/** Creates whose headers may be wrong in any way, each with the status that the interface asks for. */

/**
 * In the order in which a create is looked at; a fault is found where the stage stands, and answered with its status.
 */
const STAGES = {
  head: 400,
  expectation: 417,
  /** One that is unknown is found when the head is complete. */
  coding: 400,
  token: 401,
  key: 400,
  type: 415,
  size: 413,
  body: 400,
  none: 201,
};
type Stage = keyof typeof STAGES;

/** A part of a request, and the stage at which it fails. */
interface Part {
  readonly lines: readonly string[];
  readonly stage: Stage;
}

export interface OddCreate {
  /** The whole request, a character for each byte. */
  readonly text: string;
  readonly status: number;
  /** The id that the answer to what is HTTP must bear; undefined where the caller's is not well-formed. */
  readonly requestId: string | undefined;
}

/** What a header's value can hold: any byte but control characters. */
const anyText = fc
  .array(fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff })), {
    maxLength: 40,
  })
  .map((codes) => String.fromCharCode(...codes));
const control = fc.constantFrom('\0', '\x01', '\x1b', '\x7f', '\n', '\r');

const part = (stage: Stage, ...lines: string[]): Part => ({ lines, stage });
const parts = (stage: Stage, name: string, ...values: string[]) =>
  values.map((value) => part(stage, `${name}: ${value}`));

/** One of the parts, or a line of this header that nobody understands, at a stage of its own, or that is no HTTP. */
function oneOf(name: string, whenStrange: Stage, all: readonly Part[]): fc.Arbitrary<Part> {
  const strange = anyText.map((text) => part(whenStrange, `${name}: ${text}`));
  const broken = fc
    .tuple(anyText, control)
    .map(([text, character]) => part('head', `${name}: ${text}${character}${text}`));
  return fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...all) },
    { weight: 3, arbitrary: strange },
    { weight: 1, arbitrary: broken },
  );
}

function authorization(token: string): fc.Arbitrary<Part> {
  const good = `Authorization: Bearer ${token}`;
  return oneOf('Authorization', 'token', [
    ...Array.from({ length: 5 }, () => part('none', good)),
    part('none', `authorization:   bEARER    ${token}   `),
    ...parts('token', 'Authorization', 'Basic eDp5', 'Bearer', `Bearer, ${token}`, token),
    ...parts('token', 'Authorization', `Bearer ${token}x`, `Bearer ${token} x`),
    part('token'),
    part('token', good, good),
    part('token', good, 'AUTHORIZATION: Basic eDp5'),
  ]);
}

const JSON_TYPE = 'application/json';
const contentType = oneOf('Content-Type', 'type', [
  ...parts('none', 'Content-Type', JSON_TYPE, JSON_TYPE, JSON_TYPE, JSON_TYPE),
  ...parts('none', 'content-type', `${JSON_TYPE}; charset=utf-8`, 'Application/JSON;charset="UTF-8"'),
  ...parts('type', 'Content-Type', 'text/json', `${JSON_TYPE}; charset=utf-16`, `${JSON_TYPE};charset=`),
  ...parts('type', 'Content-Type', `${JSON_TYPE}, text/html`, ''),
  part('type'),
  part('type', `Content-Type: ${JSON_TYPE}`, 'content-type: text/html'),
]);

const expectation = fc.oneof(
  { weight: 8, arbitrary: fc.constant(part('none')) },
  { weight: 2, arbitrary: fc.constant(part('none', 'Expect: 100-continue')) },
  {
    weight: 2,
    arbitrary: oneOf('Expect', 'expectation', parts('expectation', 'Expect', '', '100-continue, more')),
  },
);

/** A key of its own for each create, since those that share one belong together; or what is none. */
const key = fc.oneof(
  { weight: 6, arbitrary: fc.constant(part('none')) },
  { weight: 4, arbitrary: fc.uuid().map((text) => part('none', `Idempotency-Key: ${text}`)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...parts('key', 'Idempotency-Key', '', 'é', 'a\tb', 'x'.repeat(256)),
      part('key', 'Idempotency-Key: a', 'idempotency-key: a'),
      ...parts('head', 'Idempotency-Key', '\0', 'a\x7f', 'a\nb'),
    ),
  },
);

/** How the body is framed, the body with it. */
function framing(body: string) {
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  const chunks = `${Buffer.byteLength(body).toString(16)};x=y\r\n${body}\r\n0\r\n\r\n`;
  const chunked = 'Transfer-Encoding: chunked';
  const framed = (one: Part, sent: string) => ({ ...one, body: sent });
  const badLengths = ['-1', '+1', '1.0', '0x1', '1 1', 'x', '', '9'.repeat(30)];
  return fc.constantFrom(
    ...Array.from({ length: 8 }, () => framed(part('none', length), body)),
    framed(part('none', `${length}   `), body),
    framed(part('none', length, 'Content-Encoding: identity'), body),
    framed(part('none', chunked), chunks),
    framed(part('type', length, 'Content-Encoding: gzip'), body),
    framed(part('type', 'Transfer-Encoding: gzip, chunked'), chunks),
    // Several times: it counts only where the parts before it are right, and a run of 800 must not miss it.
    ...Array.from({ length: 4 }, () => parts('size', 'Content-Length', '65537', '9007199254740991'))
      .flat()
      .map((one) => framed(one, '')),
    framed(part('body', 'Content-Length: 0'), ''),
    framed(part('body'), ''),
    framed(part('head', length, 'Content-Length: 1'), body),
    framed(part('head', length, chunked), chunks),
    framed(part('head', 'Transfer-Encoding: chunked, gzip'), chunks),
    ...parts('head', 'Content-Length', ...badLengths).map((one) => framed(one, body)),
    ...parts('coding', 'Transfer-Encoding', 'gzip', 'identity', 'xchunked').map((one) => framed(one, chunks)),
  );
}

const requestId = fc.oneof(
  fc.constant(undefined),
  fc.stringMatching(/^[A-Za-z0-9._~:+/=@-]{1,128}$/),
  anyText.map((text) => text.trim()),
  fc.constantFrom('', 'x'.repeat(129), 'a b', 'é', '%0d%0a', '{}'),
);

/** Creates with this token and body whose headers are right, wrong or strange, each with what must be answered. */
export const oddCreate = (token: string, body: string): fc.Arbitrary<OddCreate> =>
  fc
    .record({
      authorization: authorization(token),
      contentType,
      expectation,
      framing: framing(body),
      key,
      requestId,
    })
    .map((request) => {
      const { contentType, expectation, framing } = request;
      const all = [request.authorization, contentType, expectation, framing, request.key];
      const lines = [
        'POST /api/v1/time-logs HTTP/1.1',
        'Host: x',
        ...(request.requestId === undefined ? [] : [`X-Request-Id: ${request.requestId}`]),
        ...all.flatMap((one) => one.lines),
        'Connection: close',
      ];
      const stages = Object.keys(STAGES) as Stage[];
      const fails = stages.find((stage) => all.some((one) => one.stage === stage)) ?? 'none';
      const isWellFormed = /^[A-Za-z0-9._~:+/=@-]{1,128}$/.test(request.requestId ?? '');
      return {
        text: `${lines.join('\r\n')}\r\n\r\n${framing.body}`,
        status: STAGES[fails],
        requestId: isWellFormed ? request.requestId : undefined,
      };
    });
