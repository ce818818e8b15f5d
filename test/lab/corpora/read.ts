import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** What the directory must hold. */
export const LAYOUT = `  json-test-suite/test_parsing/*.json  JSONTestSuite (github.com/nst/JSONTestSuite)
  blns/blns.json                       the big list of naughty strings (github.com/minimaxir/big-list-of-naughty-strings)
  utf8.json                            {"valid":[{"id","hex"}…],"invalid":[…]}, byte sequences in hexadecimal
  http-raw.json                        {"requests":[{"file","title","expect":"ok"|"error"|"upgrade","raw_b64"}…]}`;

/** A directory that does not hold what it must; the message says what is missing. */
export class CorporaError extends Error {}

export interface Corpora {
  /** `y_` must be read as JSON, `n_` must not, `i_` may. */
  readonly jsonFiles: readonly { readonly name: string; readonly bytes: Buffer }[];
  readonly naughtyStrings: readonly string[];
  readonly utf8: readonly { readonly id: string; readonly bytes: Buffer; readonly isValid: boolean }[];
  readonly rawRequests: readonly {
    readonly title: string;
    readonly isError: boolean;
    readonly bytes: Buffer;
  }[];
}

const sequences = z.array(z.object({ id: z.string(), hex: z.string() })).min(1);
const rawRequest = z.object({
  file: z.string(),
  title: z.string(),
  expect: z.enum(['ok', 'error', 'upgrade']),
  raw_b64: z.string(),
});
const forms = {
  'blns/blns.json': z.array(z.string()).min(1),
  'utf8.json': z.object({ valid: sequences, invalid: sequences }),
  'http-raw.json': z.object({ requests: z.array(rawRequest).min(1) }),
};

/** Reads the corpora of a directory. Throws CorporaError where one is missing or of another form. */
export async function readCorpora(directory: string): Promise<Corpora> {
  const found = await stat(directory).catch(() => undefined);
  if (!found?.isDirectory()) throw new CorporaError(`${directory} is no directory`);
  const jsonFiles = await readJsonFiles(directory);
  const naughtyStrings = await readForm(directory, 'blns/blns.json');
  const { valid, invalid } = await readForm(directory, 'utf8.json');
  const { requests } = await readForm(directory, 'http-raw.json');
  return {
    jsonFiles,
    naughtyStrings,
    utf8: [valid, invalid].flatMap((some) =>
      some.map(({ id, hex }) => ({ id, bytes: Buffer.from(hex, 'hex'), isValid: some === valid })),
    ),
    rawRequests: requests.map(({ file, title, expect, raw_b64 }, index) => ({
      title: `${index} ${file}: ${title}`,
      isError: expect === 'error',
      bytes: Buffer.from(raw_b64, 'base64'),
    })),
  };
}

async function readJsonFiles(directory: string): Promise<Corpora['jsonFiles']> {
  const folder = join(directory, 'json-test-suite', 'test_parsing');
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^[yni]_.*\.json$/.test(name));
  for (const kind of ['y_', 'n_', 'i_']) {
    if (!names.some((name) => name.startsWith(kind)))
      throw new CorporaError(`${folder} has no file ${kind}*.json`);
  }
  return Promise.all(names.sort().map(async (name) => ({ name, bytes: await readFile(join(folder, name)) })));
}

async function readForm<Name extends keyof typeof forms>(
  directory: string,
  name: Name,
): Promise<z.infer<(typeof forms)[Name]>> {
  const path = join(directory, name);
  const text = await readFile(path, 'utf8').catch(() => {
    throw new CorporaError(`${path} cannot be read`);
  });
  try {
    return forms[name].parse(JSON.parse(text)) as z.infer<(typeof forms)[Name]>;
  } catch {
    throw new CorporaError(`${path} is not of the form that is expected`);
  }
}
