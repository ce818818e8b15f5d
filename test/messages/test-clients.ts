import { type ClientProxy, ClientProxyFactory, Transport } from '@nestjs/microservices';
import { lastValueFrom } from 'rxjs';
import { expectDescribedMessage } from '../support/documented.js';
import { TIME_LOGS } from '../support/requests.js';

/** The outcome for a caller: the body of an answer, or that of an error. */
export type Outcome = { readonly answer: unknown } | { readonly error: unknown };

/** A client of one transport, which sends the data of messages. */
export interface TestClient {
  record(data: unknown): Promise<Outcome>;
  list(data: unknown): Promise<Outcome>;
  totals(data: unknown): Promise<Outcome>;
}

interface Data {
  readonly accessToken?: string;
  readonly idempotencyKey?: string;
  readonly timeLog?: unknown;
  readonly query?: Readonly<Record<string, string | number>>;
}

/** A client of a service or host that takes messages over TCP. */
export function tcpClient(port: number): ClientProxy {
  return ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
}

/** Returns the client of a transport. Each message must be described, unless a host has changed what messages are. */
export function overTransport(client: ClientProxy, check = expectDescribedMessage): TestClient {
  const send = async (pattern: string, data: unknown): Promise<Outcome> => {
    const outcome = await lastValueFrom(client.send<unknown>(pattern, data)).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error }),
    );
    check(pattern, 'answer' in outcome ? outcome.answer : outcome.error);
    return outcome;
  };
  return {
    record: (data) => send('time-log.record.v1', data),
    list: (data) => send('time-log.list.v1', data),
    totals: (data) => send('time-log.totals.v1', data),
  };
}

/** Returns the client of HTTP. The body of its outcomes includes what HTTP sends in headers, as in messages. */
export function overHttp(port: number): TestClient {
  const url = `http://127.0.0.1:${port}${TIME_LOGS}`;
  const outcomeOf = async (response: Response): Promise<Outcome> => {
    const body = (await response.json()) as object;
    if (!response.ok) return { error: body };
    return { answer: response.headers.has('idempotency-replayed') ? { ...body, replayed: true } : body };
  };
  const credentials = ({ accessToken }: Data): Record<string, string> =>
    accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` };
  const read = async (target: string, { query = {}, ...data }: Data): Promise<Outcome> => {
    const parameters = Object.entries(query).map(
      ([name, value]) => [name, String(value)] as [string, string],
    );
    const headers = credentials(data);
    return outcomeOf(await fetch(`${target}?${new URLSearchParams(parameters).toString()}`, { headers }));
  };
  return {
    record: async (data) => {
      const { idempotencyKey: key, timeLog } = data as Data;
      const headers = { ...credentials(data as Data), ...(key !== undefined && { 'idempotency-key': key }) };
      return outcomeOf(
        await fetch(url, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(timeLog),
        }),
      );
    },
    list: (data) => read(url, data as Data),
    totals: (data) => read(`${url}/totals`, data as Data),
  };
}

/** Returns the answer to a message of Nest. */
export function outcomeOf(answer: string): Outcome {
  const { err, response } = JSON.parse(answer) as { err?: unknown; response?: unknown };
  return err === undefined ? { answer: response } : { error: err };
}
