import 'reflect-metadata';
import { ClientProxyFactory, Transport } from '@nestjs/microservices';
import { lastValueFrom } from 'rxjs';

/* A program on Nest 11 that speaks to services over each transport, and prints what it got. */
const { tcp, nats, rabbit, client: entry, accessToken, timeLog } = JSON.parse(process.env.TARGETS);
const { TimeLogMessageClient } = await import(entry);

const proxies = {
  TCP: { transport: Transport.TCP, options: { host: '127.0.0.1', port: tcp } },
  ...(nats && { NATS: { transport: Transport.NATS, options: { servers: [nats] } } }),
  ...(rabbit && { RabbitMQ: { transport: Transport.RMQ, options: { urls: [rabbit], queue: 'time-logs' } } }),
};
const outcomes = {};
for (const [name, options] of Object.entries(proxies)) {
  const proxy = ClientProxyFactory.create(options);
  const client = new TimeLogMessageClient({ proxy, token: accessToken });
  const recorded = await client.record(timeLog, { idempotencyKey: name });
  const replayed = await client.record(timeLog, { idempotencyKey: name });
  const refused = await client
    .record({ ...timeLog, duration: 0 })
    .catch(({ code, message }) => [code, message]);
  const raw = await lastValueFrom(proxy.send('time-log.list.v1', {})).catch((error) => error);
  outcomes[name] = { recorded, replayed, refused, raw };
  await proxy.close();
}
console.log(JSON.stringify(outcomes));
process.exit(0);
