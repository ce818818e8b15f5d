import type { AddressInfo } from 'node:net';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { EntityManager } from 'typeorm';
import { migrate } from '../../../src/database-setup/index.js';
import { type TimeLogHooks, timeLogMigrations, TimeLogModule } from '../../../src/time-log/index.js';
import { connect, type Server } from './server.js';
import { withBench } from './side-by-side.js';
import { median } from './statistics.js';

// What hooks cost a create: hosts with and without them, in turn, on databases of their own.
// Usage: npm run bench -- hooks [ROUNDS] [SECONDS]

const [rounds = 10, seconds = 4] = process.argv.slice(2).map(Number);
const CONNECTIONS = 64;
const HOOKS: Readonly<Record<string, TimeLogHooks | undefined>> = {
  none: undefined,
  before: { before: () => Promise.resolve() },
  'within, without a statement': { within: () => Promise.resolve() },
  'within, with a row of audit': {
    within: ({ log }, manager) =>
      (manager as EntityManager).query('insert into audit (log_id) values ($1)', [log!.id]),
  },
};
const BODY = JSON.stringify({
  projectId: '11111111-1111-1111-1111-111111111111',
  duration: 1.5,
  description: 'price',
  date: '2026-01-31',
});

await withBench(async ({ server, driver }) => {
  const hosts: { readonly name: string; readonly port: number; readonly close: () => Promise<void> }[] = [];
  for (const [name, hooks] of Object.entries(HOOKS))
    hosts.push({ name, ...(await start(server, `hooks_${hosts.length}`, hooks)) });
  const throughput = new Map(hosts.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round <= rounds; round++) {
    for (const { name, port } of hosts) {
      const outcome = await driver.run(orderFor(port));
      if (Object.keys(outcome.failures).length > 0) throw new Error(JSON.stringify(outcome.failures));
      // The first round warms up.
      if (round > 0) throughput.get(name)!.push(outcome.perSecond);
    }
  }
  const none = median(throughput.get('none')!);
  console.log('| hooks | creates/s | of those without |\n|---|---|---|');
  for (const [name, all] of throughput)
    console.log(`| ${name} | ${Math.round(median(all))} | ${(median(all) / none).toFixed(2)} |`);
  for (const { close } of hosts) await close();
});

/** A host whose driver sends a transaction at once, as the service's does. */
async function start(server: Server, database: string, hooks: TimeLogHooks | undefined) {
  await server.create(database);
  const url = server.urlOf(database);
  await migrate({ url, migrations: timeLogMigrations });
  const client = await connect(url);
  await client.query('create table audit (id bigint generated always as identity primary key, log_id uuid)');
  await client.end();
  @Module({
    imports: [
      TypeOrmModule.forRoot({
        type: 'postgres',
        url,
        autoLoadEntities: true,
        extra: { max: 10, pipeline: true },
      }),
      TimeLogModule.forRoot({ hooks, principal: () => ({ scopes: ['time-logs:write'] }) }),
    ],
  })
  class HostModule {}
  const app = await NestFactory.create(HostModule, { logger: false });
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  return { port, close: () => app.close() };
}

function orderFor(port: number) {
  const head = `POST /time-logs HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json`;
  const request = `${head}\r\nContent-Length: ${Buffer.byteLength(BODY)}\r\n\r\n${BODY}`;
  return { port, connections: CONNECTIONS, requests: [request], status: 201, seconds, patience: 5 };
}
