import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Broker, startNats, startRabbit } from '../brokers/brokers.js';
import { unusedPort } from '../../support/unused-port.js';
import { isInstalled } from '../installed.js';
import { useDirectory } from '../package/directory.js';
import { describeInstalled } from '../package/registry.js';
import { PROJECT, run } from '../package/run.js';
import { LOG, refusal } from '../../support/requests.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { eventually } from '../../support/eventually.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

const FIXTURE = 'clients.fixture.mjs';
const PACKAGES = {
  '@nestjs/common': '11.2.10',
  '@nestjs/core': '11.2.10',
  '@nestjs/microservices': '11.2.6',
  'amqp-connection-manager': '4.1.15',
  amqplib: '0.10.9',
  nats: '2.29.3',
  'reflect-metadata': '0.2.2',
  rxjs: '7.8.2',
};

const describeClients = await describeInstalled('clients on Nest 11');

describeClients('a client on Nest 11', () => {
  const directory = useDirectory();
  let database: TestDatabase;
  const brokers: Broker[] = [];
  const services: ServiceProcess[] = [];

  beforeAll(async () => {
    await writeFile(
      join(directory.path, 'package.json'),
      JSON.stringify({ private: true, dependencies: PACKAGES }),
    );
    await run(
      'npm',
      ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'],
      directory.path,
    );
    await cp(join(import.meta.dirname, FIXTURE), join(directory.path, FIXTURE));
    database = await createTestDatabase();
  });
  afterAll(async () => {
    for (const service of services) await service.end();
    for (const broker of brokers) await broker.stop();
    await database.drop();
  });

  it('records and lists over each transport, with the errors of the service', async () => {
    const accessToken = 'a-declared-token-of-32-characters';
    const [nats, rabbit] = [
      isInstalled('nats-server') ? await startNats() : undefined,
      isInstalled('rabbitmq-server') ? await startRabbit() : undefined,
    ];
    const urls = [nats, rabbit].flatMap((broker) => (broker ? [broker] : []));
    brokers.push(...urls);
    const serve = async (url: string) => {
      const env = { DATABASE_URL: database.url, ACCESS_TOKEN: accessToken, MESSAGES_URL: url };
      services.push(await startService(env));
    };
    // A port that is free now may be another test's a moment later: then it tries the next.
    const tcp = await eventually(async () => {
      const port = await unusedPort();
      await serve(`tcp://127.0.0.1:${port}`);
      return port;
    });
    for (const { url } of urls) await serve(url);
    const TARGETS = JSON.stringify({
      tcp,
      nats: nats?.url,
      rabbit: rabbit?.url,
      client: pathToFileURL(join(PROJECT, 'libs/time-log-client/dist/messages.js')).href,
      accessToken,
      timeLog: LOG,
    });
    const output = await run(process.execPath, [FIXTURE], directory.path, { TARGETS });
    const outcomes = JSON.parse(output.trim().split('\n').at(-1)!) as Record<string, { recorded: object }>;
    expect(Object.keys(outcomes)).toHaveLength(1 + urls.length);
    for (const outcome of Object.values(outcomes)) {
      expect(outcome).toEqual({
        recorded: expect.objectContaining(LOG),
        replayed: outcome.recorded,
        refused: ['VALIDATION_ERROR', 'duration must be a positive number'],
        raw: refusal('UNAUTHORIZED', 'a valid bearer token is required'),
      });
    }
  });
});
