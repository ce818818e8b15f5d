import { type ClientProxy, ClientProxyFactory, Transport } from '@nestjs/microservices';
import { lastValueFrom } from 'rxjs';
import { expectDescribedMessage } from '../support/documented.js';
import { sendUnchecked, TIME_LOGS } from '../support/requests.js';

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
  readonly query?: Record<string, string>;
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
  const ask = async (method: string, path: string, data: unknown): Promise<Outcome> => {
    const { accessToken, idempotencyKey, timeLog } = data as Data;
    const authorization = accessToken === undefined ? undefined : `Bearer ${accessToken}`;
    const given = { authorization, 'idempotency-key': idempotencyKey };
    const target = { port, token: '' };
    const { status, headers, body } = await sendUnchecked(target, method, path, timeLog, given);
    if (status >= 400) return { error: body };
    return { answer: headers.has('idempotency-replayed') ? { ...(body as object), replayed: true } : body };
  };
  const read = (path: string, data: unknown) => {
    const { query = {} } = data as Data;
    return ask('GET', `${path}?${new URLSearchParams(query).toString()}`, data);
  };
  return {
    record: (data) => ask('POST', TIME_LOGS, data),
    list: (data) => read(TIME_LOGS, data),
    totals: (data) => read(`${TIME_LOGS}/totals`, data),
  };
}

/** Returns the answer to a message of Nest. */
export function outcomeOf(answer: string): Outcome {
  const { err, response } = JSON.parse(answer) as { err?: unknown; response?: unknown };
  return err === undefined ? { answer: response } : { error: err };
}
