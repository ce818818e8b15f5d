import fc from 'fast-check';

/** Valid requests with something wrong in them, for fuzzing: most stay close enough to be looked at field by field. */

/** One of the words of a text, or of what is no word. */
const oneOf = (words: string, ...others: string[]) =>
  fc.constantFrom(...words.trim().split(/\s+/), ...others);
/** One of the lines of a text, or of what is no such line. */
const lineOf = (lines: string, ...others: string[]) =>
  fc.constantFrom(...lines.trim().split(/\n\s*/), ...others);

const projectId = fc.constantFrom(
  '11111111-1111-1111-1111-111111111111',
  'ABCDEFAB-CDEF-ABCD-EFAB-CDEFABCDEFAB',
  '00000000-0000-0000-0000-000000000000',
);

/** Members of a valid body, as JSON text. */
const members = fc
  .record({
    projectId,
    duration: fc.constantFrom(1, 0.1, 1e-7, 1e21, 90),
    description: fc.string({ unit: 'grapheme', maxLength: 20 }),
    date: fc.constantFrom('2026-01-31', '0001-01-01', '9999-12-31', '2024-02-29'),
  })
  .map((log) => Object.entries(log).map(([name, value]) => [name, JSON.stringify(value)] as const));

const oddValue = fc.oneof(
  oneOf('null true {} [] "" "1" [1] {"toString":1} [[[[[[[[1]]]]]]]]'),
  oneOf('0 -0 -1 0.0 1e400 -1e400 1e-400 5e-324 1E+2 1.7976931348623159e308'),
  oneOf('9007199254740993 0.1000000000000000055511151231257827 01 .5 1. +1 NaN 0x1'),
  oneOf(String.raw`"2026-02-30" "2026-1-1" "\u0000" "\ud800" "\ud83d\ude00" "\x" 'a'`, ''),
  fc.json({ maxDepth: 2 }),
);
const oddName = oneOf('id createdAt __proto__ constructor toString Duration project_id é', '', 'duration ');
const space = fc.constantFrom('', '', ' ', '\n\t', '\r\n', '\u00A0');

const edit = fc.record({
  kind: fc.constantFrom('value', 'value', 'value', 'swap', 'drop', 'twice', 'rename', 'add', 'escape'),
  at: fc.nat(3),
  value: oddValue,
  name: oddName,
});
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;
type Member = readonly [name: string, value: string];

/** Every character of a plain JSON string as its escape, which means the same; other values as they are. */
function escaped(value: string): string {
  if (!/^"[^"\\]*"$/.test(value)) return value;
  const text = JSON.parse(value) as string;
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

function edited(list: readonly Member[], { kind, at, value, name }: Edit): readonly Member[] {
  const member = list[at % list.length];
  if (!member) return list;
  const [before, after] = [list.slice(0, list.indexOf(member)), list.slice(list.indexOf(member) + 1)];
  const other = (after[0] ?? before[0] ?? member)[1];
  const replacement: Record<string, readonly Member[]> = {
    value: [[member[0], value]],
    swap: [[member[0], other]],
    drop: [],
    twice: [member, [member[0], value]],
    rename: [[name, member[1]]],
    add: [member, [name, value]],
    escape: [[member[0], escaped(member[1])]],
  };
  return [...before, ...replacement[kind]!, ...after];
}

/** Bodies that are wrong in their members, and now and then in their JSON. */
export const bodyOfOddMembers: fc.Arbitrary<Buffer> = fc
  .record({ members, edits: fc.array(edit, { minLength: 1, maxLength: 3 }), space })
  .map(({ members: list, edits, space: gap }) => {
    const all = edits.reduce<readonly Member[]>(edited, list);
    const texts = all.map(([name, value]) => `${gap}${JSON.stringify(name)}${gap}:${gap}${value}${gap}`);
    return Buffer.from(`${gap}{${texts.join(',')}}${gap}`);
  });

/** Bodies of any JSON: values of any shape, and objects that have some of a log's members, of any value. */
export const bodyOfAnyJson: fc.Arbitrary<Buffer> = fc
  .oneof(
    fc.jsonValue({ maxDepth: 9, stringUnit: 'binary' }),
    fc.dictionary(
      fc.oneof(fc.constantFrom('projectId', 'duration', 'description', 'date'), oddName, fc.string()),
      fc.oneof(
        projectId,
        fc.double(),
        fc.jsonValue({ stringUnit: 'binary' }),
        fc.constantFrom('2026-01-31', 1),
      ),
      { maxKeys: 6 },
    ),
  )
  .map((value) => Buffer.from(JSON.stringify(value)));

const damage = fc.record({
  kind: fc.constantFrom('flip', 'delete', 'insert', 'duplicate'),
  at: fc.nat(300),
  byte: fc.nat(255),
});

/** Bodies whose bytes have been damaged. */
export const damagedBody: fc.Arbitrary<Buffer> = fc
  .record({ members, damages: fc.array(damage, { minLength: 1, maxLength: 3 }) })
  .map(({ members: list, damages }) => {
    const text = `{${list.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
    return damages.reduce((bytes, { kind, at, byte }) => {
      const place = at % (bytes.length + 1);
      const [head, tail] = [bytes.subarray(0, place), bytes.subarray(place)];
      if (kind === 'delete') return Buffer.concat([head, tail.subarray(1)]);
      if (kind === 'insert') return Buffer.concat([head, Buffer.of(byte), tail]);
      if (kind === 'flip' && tail.length > 0) {
        return Buffer.concat([head, Buffer.of(tail[0]! ^ (1 << (byte % 8))), tail.subarray(1)]);
      }
      return Buffer.concat([head, tail.subarray(0, byte % 20), tail]);
    }, Buffer.from(text));
  });

const parameter = fc.tuple(
  oneOf('projectId from to by page limit page[] limit[a] project_id Page __proto__ %70age', ''),
  fc.oneof(
    projectId,
    oneOf('1 50 0 -1 1001 007 1e3 9007199254740991 9007199254740992 %31 +1'),
    oneOf('2026-01-31 2026-01-31T09:30Z 2026-01-31+09:30 2026-02-30 0001-01-01 9999-12-31'),
    oneOf('% %zz %00 %ff %F0%9F%98%80 a=b ? ; [] week 2026-01-31T09:30+23:59', ''),
    fc.string({ unit: 'grapheme', maxLength: 8 }).map(encodeURIComponent),
  ),
);

/** Parameters whose value is of the kind that belongs to the name, and mostly right. */
const fittingParameter = fc.oneof(
  fc.tuple(
    fc.constant('projectId'),
    fc
      .tuple(
        fc.array(fc.oneof({ weight: 9, arbitrary: projectId }, oneOf('x', '')), {
          minLength: 1,
          maxLength: 4,
        }),
        fc.constantFrom(',', '%2C', ',%20'),
      )
      .map(([ids, comma]) => ids.join(comma)),
  ),
  fc.tuple(
    fc.constant('by'),
    fc.constantFrom(
      'project',
      'day',
      'week',
      'month',
      'project,week',
      'project,year',
      'year',
      '%64ay',
      'Week',
    ),
  ),
  fc.tuple(fc.constantFrom('page', 'limit'), fc.constantFrom('1', '2', '1000', '%31', '007', '1001', '0')),
  fc.tuple(
    fc.constantFrom('from', 'to'),
    fc
      .tuple(
        fc.constantFrom('0001-01-01', '2024-02-29', '2026-01-31', '9999-12-31', '2023-02-29'),
        fc.constantFrom('', 'T', 't', '+', '%20'),
        fc.constantFrom('', '23:59', '00:00:60', '12:30:15.123456', '24:00', '9:30', '12:30.5'),
        fc.constantFrom('', '', 'Z', 'z', '+05:45', '-12:00', '%2B14:00', '+24:00', '+0545'),
      )
      .map((parts) => parts.join('')),
  ),
);

/** Queries of which each parameter may be wrong. */
export const oddQuery: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 1, arbitrary: parameter }, { weight: 4, arbitrary: fittingParameter }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((list) => list.map(([name, value]) => `${name}=${value}`).join('&'));

/** Queries of any characters that a request line can carry. */
export const anyQuery: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      oneOf('& = + % %2 %3D %26 # page limit from 1 2026-01-31'),
      fc.string({
        unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
        maxLength: 3,
      }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

const oddHeader = lineOf(
  `
  Content-Type: application/json; charset=latin1
  Content-Type: application/json;;
  Content-Encoding: gzip
  Content-Encoding: identity
  Expect: 100-continue
  Expect: more
  Host: other
  Authorization: Basic x
  Accept: image/png
  Accept-Encoding: br
  Range: bytes=0-1
  If-None-Match: *
  X-Request-Id: ok-1
  X-HTTP-Method-Override: DELETE
  Origin: http://x
  Cookie: a=b
  Transfer-Encoding: chunked
  Content-Length: 0
  Content-Length: -1
  Upgrade: websocket
  Forwarded: for=x
  TE: trailers
  Via: x
  X:
  X :y
  no colon
  content-type: text/plain`,
  ' : x',
  'X-Request-Id: \u0001',
  'X: \u00E9\u00FF',
  `X-Long: ${'x'.repeat(9_000)}`,
);
const method = oneOf('GET POST HEAD PUT PATCH DELETE OPTIONS TRACE PROPFIND QUERY get GETX', 'P OST');
const part = oneOf(String.raw`api v1 time-logs .. . %2e %2F % %00 %ff ;a \ é *`, '');
const path = fc.oneof(
  oneOf('/api/v1/time-logs /health /livez /readyz * http://x/health x'),
  fc.array(part, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`),
);

/** Whole requests, as bytes, with odd methods, paths and headers; `token` makes most of them authentic. */
export const oddRequest = (token: string): fc.Arbitrary<Buffer> =>
  fc
    .record({
      method,
      path,
      odd: fc.array(oddHeader, { maxLength: 2 }),
      isAuthentic: fc.integer({ min: 0, max: 7 }).map((roll) => roll > 0),
      body: fc.oneof(fc.constant(Buffer.alloc(0)), bodyOfOddMembers),
    })
    .map(({ method: verb, path: target, odd, isAuthentic, body }) => {
      const headers = [
        'Host: x',
        ...(isAuthentic ? [`Authorization: Bearer ${token}`] : []),
        ...odd,
        'Connection: close',
        ...(body.length > 0 ? ['Content-Type: application/json', `Content-Length: ${body.length}`] : []),
      ];
      const head = `${verb} ${target} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`;
      return Buffer.concat([Buffer.from(head, 'latin1'), body]);
    });
