import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TimeLogModule, type TimeLogModuleOptions } from '../../../src/embedding/index.js';
import { TimeLogService } from '../../../src/time-log/index.js';
import { compareCreates, optionsOf, withBench } from './side-by-side.js';

// Measures what hooks cost a create: hosts with and without them, alternately, on databases of their own.
// Then the same through TimeLogService. Usage: npm run bench -- hooks [ROUNDS] [SECONDS]

const AUDIT = 'create table audit (id bigint generated always as identity primary key, log_id uuid)';
type Hooks = TimeLogModuleOptions['hooks'];
const HOOKS: Readonly<Record<string, Hooks>> = {
  before: { before: () => Promise.resolve() },
  'within, without a statement': { within: () => Promise.resolve() },
  'within, with a row of audit': {
    within: ({ log }, manager) => manager.query('insert into audit (log_id) values ($1)', [log.id]),
  },
  none: undefined,
};

await withBench(async (bench) => {
  const hosts: Record<string, Awaited<ReturnType<typeof start>>> = {};
  for (const [index, [name, hooks]] of Object.entries(HOOKS).entries())
    hosts[name] = await start(await bench.createDatabase(`hooks_${index}`, AUDIT), hooks);
  await compareCreates(bench, hosts, optionsOf(process.argv.slice(2)));
  await compareServices(hosts, Number(process.argv[2] ?? 10));
  for (const { close } of Object.values(hosts)) await close();
});

/** A host in this process, whose driver sends a transaction at once, as the service's does. */
async function start(url: string, hooks: Hooks) {
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
  const target = { name: 'service', port, token: '', pid: process.pid } as const;
  return { ...target, service: app.get(TimeLogService), close: () => app.close() };
}

/** Prints the medians of logs a second: 500 calls of `record` at once, and `recordAll` of 1,000 logs. */
async function compareServices(
  hosts: Readonly<Record<string, { readonly service: TimeLogService }>>,
  rounds: number,
): Promise<void> {
  const values = { projectId: randomUUID(), duration: 1, date: '2026-01-31' };
  const many = Array.from({ length: 1_000 }, () => values);
  const acts = [
    (service: TimeLogService) =>
      Promise.all(many.slice(500).map(() => service.record(values, { deadline: 60_000 }))),
    (service: TimeLogService) => service.recordAll(many),
  ];
  const speeds: Record<string, number[][]> = {};
  for (let round = 0; round < rounds; round++)
    for (const [name, { service }] of Object.entries(hosts))
      for (const [index, act] of acts.entries()) {
        const since = performance.now();
        const { length } = await act(service);
        ((speeds[name] ??= [[], []])[index] ??= []).push((length * 1_000) / (performance.now() - since));
      }
  console.log('\n| by service | record at once, logs/s | recordAll, logs/s |\n|---|---|---|');
  for (const [name, found] of Object.entries(speeds)) {
    const medians = found.map((ofAct) => Math.round(ofAct.sort((a, b) => a - b)[rounds >> 1]!));
    console.log(`| ${[name, ...medians].join(' | ')} |`);
  }
}
