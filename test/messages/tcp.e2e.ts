import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type ClientProxy, ClientProxyFactory, Transport } from '@nestjs/microservices';
import { lastValueFrom } from 'rxjs';
import { TimeLogUseCases } from '../../src/time-log/application/time-log.use-cases.js';
import { newGate } from '../support/gate.js';
import { LOG, refusal } from '../support/requests.js';
import { describeBytes, describeDoor, describeJsonSuite } from './door.contract.js';
import { type Door, type Outcome, overHttp, overTransport } from './doors.js';
import { unusedPort } from '../support/unused-port.js';
import { type MessageHost, startMessageHost } from './host.js';
import { describeMessages } from './message.contract.js';
import { RawTcp } from './raw-tcp.js';

const host = '127.0.0.1';

interface Tcp {
  readonly host: MessageHost;
  readonly port: number;
  readonly door: Door;
  readonly proxy: ClientProxy;
  close(): Promise<void>;
}

async function open(): Promise<Tcp> {
  const port = await unusedPort();
  const started = await startMessageHost(`tcp://${host}:${port}`);
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host, port } });
  return {
    host: started,
    port,
    door: overTransport(client),
    proxy: client,
    close: async () => {
      client.close();
      await started.close();
    },
  };
}

describeDoor('TCP', open);
describeDoor('HTTP', async () => {
  const started = await open();
  return { door: overHttp(started.host.port), close: () => started.close() };
});
describeMessages('TCP', open);
const openBytes = async () => {
  const opened = await open();
  const raw = await RawTcp.open(opened.port);
  return {
    ...opened,
    ask: async (message: Buffer) => {
      const answer = await raw.ask(message);
      return answer?.err ? { error: answer.err } : { answer: answer?.response };
    },
    askTotals: (message: Buffer) => raw.askText(message),
    close: async () => {
      raw.close();
      await opened.close();
    },
  };
};
describeBytes('TCP', openBytes);
describeJsonSuite('TCP', openBytes);

describe('a host with messages over TCP', () => {
  let tcp: Tcp;
  beforeAll(async () => {
    tcp = await open();
  });
  afterAll(() => tcp.close());

  it('has the keys of HTTP', async () => {
    const asked = { accessToken: 'worker', idempotencyKey: 'across', timeLog: LOG };
    const { answer } = (await tcp.door.record(asked)) as { answer: object };
    expect(await overHttp(tcp.host.port).record(asked)).toEqual({ answer: { ...answer, replayed: true } });
  });

  it.each([
    ['no length', 'x#{}'],
    ['no JSON', '3#{x}'],
    ['no pattern', '2#{}'],
    ['no object', '4#null'],
    ['an array', '2#[]'],
    ['a null byte', '\0'],
    ['a length without an end', '#'.repeat(100_000)],
  ])('goes on after bytes that are no message: %s', async (_what, bytes) => {
    const socket = connect(tcp.port, host).on('error', () => undefined);
    await once(socket, 'connect');
    socket.end(bytes);
    socket.resume();
    await once(socket, 'close');
    expect(await tcp.door.list({ accessToken: 'reader' })).toMatchObject({ answer: { success: true } });
  });

  it.each(['null', 'undefined', '1'])('answers data that no client of Nest sends: %s', async (data) => {
    const member = data === 'undefined' ? '' : `,"data":${data}`;
    const raw = await RawTcp.open(tcp.port);
    expect(await raw.ask(`{"pattern":"time-log.record.v1","id":"1"${member}}`)).toMatchObject({
      err: { success: false, error: 'UNAUTHORIZED' },
    });
    raw.close();
  });

  it('answers an unknown pattern in the form of all errors', async () => {
    const sent = lastValueFrom(tcp.proxy.send('time-log.unknown.v1', { accessToken: 'worker' }));
    await expect(sent).rejects.toEqual(refusal('NOT_FOUND', 'no such pattern'));
  });

  it('makes one big list at a time, for messages and requests, and waits for its turn to the deadline', async () => {
    const service = tcp.host.app.get(TimeLogUseCases);
    const held = newGate();
    const list = service.list.bind(service);
    const made = jest.spyOn(service, 'list').mockImplementation(async (filter, page, access) => {
      if (page.limit > 100) await held.opened;
      return list(filter, page, access);
    });
    // Else small ones would be made beside it.
    const weighed = jest.spyOn(service, 'weigh').mockResolvedValue(20e6);
    const big = { accessToken: 'reader', query: { limit: 101 } };
    const outcomes = [...Array<Door>(5).fill(tcp.door), overHttp(tcp.host.port)].map((door) =>
      door.list(big),
    );
    const unavailable = { error: { error: 'SERVICE_UNAVAILABLE' } };
    expect(await tcp.door.list({ accessToken: 'reader', query: { limit: 100 } })).toMatchObject({
      answer: {},
    });
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatchObject(unavailable);
    expect(made.mock.calls.filter(([, { limit }]) => limit > 100)).toHaveLength(1);
    held.open();
    weighed.mockRestore();
    expect(await tcp.door.list(big)).toMatchObject({ answer: { meta: { limit: 101 } } });
    expect(await overHttp(tcp.host.port).list(big)).toMatchObject({ answer: { meta: { limit: 101 } } });
    made.mockRestore();
  });

  it('answers at its end what is under way, and refuses what comes then', async () => {
    const { asked, answered } = tcp.host.tokens;
    const underWay = tcp.door.record({ accessToken: 'held', timeLog: LOG });
    await asked.opened;
    const ended = tcp.host.app.close();
    let refused: Outcome;
    do refused = await tcp.door.list({ accessToken: 'bad' });
    while (!('error' in refused) || (refused.error as { error?: string }).error === 'UNAUTHORIZED');
    expect(refused).toMatchObject({ error: { error: 'SERVICE_UNAVAILABLE' } });
    answered.open();
    expect(await underWay).toMatchObject({ answer: { success: true } });
    await ended;
  });
});
