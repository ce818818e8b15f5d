import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CorporaError, readCorpora } from './read.js';

const FILES = {
  'json-test-suite/test_parsing/y_a.json': '[]',
  'json-test-suite/test_parsing/n_b.json': '[',
  'json-test-suite/test_parsing/i_c.json': '[1e999]',
  'blns/blns.json': '["", "undefined"]',
  'utf8.json': '{"valid":[{"id":"1","hex":"c3a9"}],"invalid":[{"id":"2","hex":"ff"}]}',
  'http-raw.json': '{"requests":[{"file":"f","title":"t","expect":"error","raw_b64":"R0VU"}]}',
};
type Name = keyof typeof FILES;

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'corpora-'));
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
});
afterEach(() => rm(directory, { recursive: true }));

const refusal = (text: string) =>
  expect(readCorpora(directory)).rejects.toEqual(new CorporaError(join(directory, text)));

describe('readCorpora', () => {
  it('reads every corpus', async () => {
    expect(await readCorpora(directory)).toEqual({
      jsonFiles: [
        { name: 'i_c.json', bytes: Buffer.from('[1e999]') },
        { name: 'n_b.json', bytes: Buffer.from('[') },
        { name: 'y_a.json', bytes: Buffer.from('[]') },
      ],
      naughtyStrings: ['', 'undefined'],
      utf8: [
        { id: '1', bytes: Buffer.from('é'), isValid: true },
        { id: '2', bytes: Buffer.of(0xff), isValid: false },
      ],
      rawRequests: [{ title: '0 f: t', isError: true, bytes: Buffer.from('GET') }],
    });
  });

  it.each(['y', 'n', 'i'] as const)('asks for files %s_*.json', async (kind) => {
    const name = Object.keys(FILES).find((file) => file.includes(`/${kind}_`))!;
    await rm(join(directory, name));
    await refusal(`json-test-suite/test_parsing has no file ${kind}_*.json`);
  });

  it.each<Name>(['blns/blns.json', 'utf8.json', 'http-raw.json'])('asks for %s', async (name) => {
    await rm(join(directory, name));
    await refusal(`${name} cannot be read`);
    for (const text of ['', '{}', '[]', '{"valid":[],"invalid":[],"requests":[]}']) {
      await writeFile(join(directory, name), text);
      await refusal(`${name} is not of the form that is expected`);
    }
  });

  it('asks for a directory', async () => {
    const nowhere = join(directory, 'nowhere');
    await expect(readCorpora(nowhere)).rejects.toEqual(new CorporaError(`${nowhere} is no directory`));
  });
});
