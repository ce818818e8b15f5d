import { join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { RunningHost } from '../../host/foreign-host.contract.js';
import { startNats } from '../brokers/brokers.js';
import { describeWith } from '../describe-with.js';
import { useDirectory } from '../package/directory.js';
import { installTarballs, startProgram } from '../package/host-directory.js';
import { describeInstalled } from '../package/registry.js';
import { packLib, packWorkspace, run } from '../package/run.js';
import { unpack } from '../package/tarball.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

const HOSTS = ['examples/nest-11', 'examples/nest-12'];

const describeHosts = await describeInstalled('the hosts in test/lab/estate');

async function documentOf({ url }: RunningHost): Promise<OpenAPIObject> {
  return (await (await fetch(`${url}/docs-json`)).json()) as OpenAPIObject;
}

/** The steps of a team with a host: it builds it, runs its tests, starts it, and reads its documentation. */
describeHosts('a stock project that embeds time logs', () => {
  const root = useDirectory();

  beforeAll(async () => {
    const tarball = await packLib(root.path);
    await unpack(tarball, root.path);
    const postgres = await packWorkspace('@time-logs/embedded-postgres', root.path);
    await Promise.all(HOSTS.map((host) => installTarballs(join(root.path, host), tarball, postgres)));
  });

  it.each(HOSTS)('is built, passes its own tests, starts and documents our routes: %s', async (host) => {
    const directory = join(root.path, host);
    await run('npm', ['run', 'build'], directory);
    // Its tests too, which their runners do not check.
    await run(process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit'], directory);
    const databases = [await createTestDatabase(), await createTestDatabase()];
    try {
      const [{ url: own }, { url: ofPartner }] = databases as [TestDatabase, TestDatabase];
      const env = { DATABASE_URL: own, PARTNER_DATABASE_URL: ofPartner, PORT: '0', MESSAGES_PORT: '0' };
      await run('npm', ['test'], directory, env);
      const app = await startProgram(join(directory, 'dist'), 'main.js', env);
      const document = await documentOf(app).finally(() => app.close());
      expect(Object.keys(document.paths)).toContainEqual(expect.stringContaining('/hours'));
      expect(document.paths).toHaveProperty(['/api/v1/time-logs', 'post', 'requestBody']);
    } finally {
      for (const database of databases) await database.drop();
    }
  });

  describeWith('nats-server')('over NATS', () => {
    it('passes its own tests too', async () => {
      const database = await createTestDatabase();
      const nats = await startNats();
      try {
        await run('npm', ['test'], join(root.path, HOSTS[1]!), {
          DATABASE_URL: database.url,
          NATS_URL: nats.url,
          MESSAGES_PORT: '0',
        });
      } finally {
        await nats.stop();
        await database.drop();
      }
    });
  });
});
