import { expect, it } from '@jest/globals';
import { withAttributes } from './attribute-lines.js';

const HEADER = 'id,projectId,date,duration,description,createdAt,attributes\n';

async function* rows(...parts: (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    await Promise.resolve();
    if (part instanceof Error) throw part;
    yield Buffer.from(part);
  }
}

it.each([
  ['no rows', [], [HEADER]],
  ['rows', ['"a"\x01\n"b"\x01{"c', '": 1}\n'], [`${HEADER}a,\n`, 'b,"{""c"":1}"\n']],
])('withAttributes yields the header of CSV with the first lines: %s', async (_what, parts, expected) => {
  const texts = [];
  for await (const bytes of withAttributes(rows(...parts), 'csv')) texts.push(Buffer.from(bytes).toString());
  expect(texts).toEqual(expected);
});

it('withAttributes yields nothing before an error at the start', async () => {
  await expect(withAttributes(rows(new Error('refused')), 'csv').next()).rejects.toThrow('refused');
});
