import type { AddressInfo } from 'node:net';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { EntityManager } from 'typeorm';
import { type TimeLogHooks, TimeLogModule } from '../../../libs/host-kit/src/index.js';
import type { Target } from './program.js';
import { compareCreates, optionsOf, withBench } from './side-by-side.js';

// What hooks cost a create: hosts with and without them, in turn, on databases of their own.
// Usage: npm run bench -- hooks [ROUNDS] [SECONDS]

const AUDIT = 'create table audit (id bigint generated always as identity primary key, log_id uuid)';
const HOOKS: Readonly<Record<string, TimeLogHooks | undefined>> = {
  before: { before: () => Promise.resolve() },
  'within, without a statement': { within: () => Promise.resolve() },
  'within, with a row of audit': {
    within: ({ log }, manager) =>
      (manager as EntityManager).query('insert into audit (log_id) values ($1)', [log!.id]),
  },
  none: undefined,
};

await withBench(async (bench) => {
  const hosts: Record<string, Target & { close: () => Promise<void> }> = {};
  for (const [index, [name, hooks]] of Object.entries(HOOKS).entries())
    hosts[name] = await start(await bench.createDatabase(`hooks_${index}`, AUDIT), hooks);
  await compareCreates(bench, hosts, optionsOf(process.argv.slice(2)));
  for (const { close } of Object.values(hosts)) await close();
});

/** A host in this process, whose driver sends a transaction at once, as the service's does. */
async function start(url: string, hooks: TimeLogHooks | undefined) {
  const extra = { max: 10, pipeline: true };
  @Module({
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', url, autoLoadEntities: true, extra }),
      TimeLogModule.forRoot({ hooks, caller: () => ({ scopes: ['time-logs:write'] }) }),
    ],
  })
  class HostModule {}
  const app = await NestFactory.create(HostModule, { logger: false });
  await app.setGlobalPrefix('api/v1').listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  return { name: 'service', port, token: '', pid: process.pid, close: () => app.close() } as const;
}
