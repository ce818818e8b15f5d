import { Agent, type IncomingMessage, request } from 'node:http';
import { expect } from '@jest/globals';
import { expectDocumented } from './documented.js';
import { parseRaw, sendRaw } from './raw-http.js';

export const TIME_LOGS = '/api/v1/time-logs';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** Sends requests as bytes over connections that are kept, with a token unless `headers` say otherwise. */
export class HttpClient {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 8 });

  constructor(
    private readonly port: number,
    private readonly token: string,
  ) {}

  /** Resolves when the answer is there; checks it against the contract's form of answers. */
  async send(method: string, path: string, body?: Buffer | string, headers = {}): Promise<Answer> {
    const answer = await new Promise<Answer>((resolve, reject) => {
      const options = { agent: this.agent, host: '127.0.0.1', port: this.port, method, path };
      const outgoing = request(
        { ...options, headers: { authorization: `Bearer ${this.token}`, ...headers } },
        (incoming) => void readAnswer(incoming).then(resolve, reject),
      );
      outgoing.on('error', reject).end(body);
    });
    expectAnswerOfContract(answer, method);
    expectDocumented({ method, path, headers, body }, { ...answer, text: answer.body });
    return answer;
  }

  post(body: Buffer | string): Promise<Answer> {
    return this.send('POST', TIME_LOGS, body, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', path);
  }

  /** Writes the bytes as they are on a connection of their own; undefined where the server just closes it. */
  async raw(bytes: Buffer, method = 'GET'): Promise<Answer | undefined> {
    const text = (await sendRaw(this.port, bytes, 1_500)).replace('HTTP/1.1 100 Continue\r\n\r\n', '');
    if (text === '') return undefined;
    const { status, headers, body } = parseRaw(text);
    const answer = { status, headers, body: method === 'HEAD' ? '' : firstBody(headers, body) };
    expectAnswerOfContract(answer, method);
    const [, path = ''] = bytes.toString('latin1').split(' ');
    expectDocumented({ method, path }, { ...answer, text: answer.body });
    return answer;
  }

  close(): void {
    this.agent.destroy();
  }
}

/** What belongs to the first answer, of Content-Length or in one chunk. */
function firstBody(headers: Readonly<Record<string, string>>, rest: string): string {
  const [lead, size] = /^([0-9a-f]+)\r\n/.exec(rest) ?? ['', '0'];
  const chunked = rest.slice(lead.length, lead.length + Number.parseInt(size, 16));
  const length = headers['content-length'];
  return Buffer.from(length === undefined ? chunked : rest.slice(0, Number(length)), 'latin1').toString();
}

async function readAnswer(incoming: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const headers = incoming.headers as Record<string, string | undefined>;
  return { status: incoming.statusCode!, headers, body: Buffer.concat(chunks).toString() };
}

/** The codes that a request alone can bring about: no 5xx among them. */
const CODES: Readonly<Record<number, string>> = {
  400: 'VALIDATION_ERROR',
  401: 'UNAUTHORIZED',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  417: 'EXPECTATION_FAILED',
  431: 'HEADERS_TOO_LARGE',
};

/** What holds for every answer, whatever was asked. */
function expectAnswerOfContract({ status, headers, body }: Answer, method: string): void {
  expect([200, 201, ...Object.keys(CODES).map(Number)]).toContain(status);
  expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  if (status < 400) return;
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  if (status === 401) expect(headers['www-authenticate']).toMatch(/^Bearer realm="time-logs"/);
  if (status === 405) expect(['GET, HEAD', 'GET, HEAD, POST']).toContain(headers.allow);
  if (method === 'HEAD') return;
  const envelope = { success: false, error: CODES[status], message: expect.stringMatching(/^[\x20-\x7e]+$/) };
  expect(JSON.parse(body)).toEqual(envelope);
}

/** The message of an error. */
export function messageOf({ body }: Answer): string {
  return (JSON.parse(body) as { message: string }).message;
}

/** The created log, or the listed logs. */
export function dataOf({ body }: Answer): unknown {
  return (JSON.parse(body) as { data: unknown }).data;
}
