import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { Ledger } from '../faults/support/ledger.js';
import { Writers } from '../faults/support/writers.js';
import { describeWithDocker } from './engine.js';
import { useProject } from './project.js';

const INSTANCES = ['time-logs-1', 'time-logs-2', 'time-logs-3', 'time-logs-4', 'time-logs-reader'];

interface Member {
  readonly Member: string;
  readonly Role: string;
  readonly State: string;
}

describeWithDocker('a fleet in containers', () => {
  let writers: Writers | undefined;
  // Before the project is removed.
  afterAll(() => writers?.stop());
  const project = useProject('--env-file', 'docker/.env', '-f', 'docker/fleet/compose.yaml');
  /** `docker compose … up` of the documents. */
  let up: string;
  let curl: string;
  let ca: string;
  const ledger = new Ledger();

  const members = async (asked: string) => {
    const list = ['patronictl', '-c', '/etc/patroni.yaml', 'list', '--format', 'json'];
    return JSON.parse(await project.compose('exec', '-T', asked, ...list)) as Member[];
  };
  /** The primary, once the other one is its synchronous standby. */
  const primaryOfTwo = (asked: string) =>
    eventually(async () => {
      const all = await members(asked);
      expect(all.map(({ Role }) => Role).sort()).toEqual(['Leader', 'Sync Standby']);
      return all.find(({ Role }) => Role === 'Leader')!.Member;
    });
  const expectHealthy = () =>
    eventually(async () => {
      const containers = [...(await project.containers())];
      const health = containers.map(([service, { State }]) => [service, State.Health?.Status]);
      expect(health).toEqual(containers.map(([service]) => [service, 'healthy']));
    });
  const goesOn = () => writers!.acknowledge(50);

  beforeAll(async () => {
    const [containers] = await project.commands('docker/README.md', '## In containers');
    await project.sh(containers!.slice(0, containers!.indexOf('docker compose')));
    const lines = (await project.commands('docker/FLEET.md', '# A fleet'))[0]!.trim().split('\n');
    up = lines.find((line) => line.startsWith('docker compose'))!;
    curl = lines.find((line) => line.startsWith('curl'))!;
    await project.sh(lines.filter((line) => line !== curl).join('\n'));
    ca = await readFile(join(project.folder, 'docker/fleet/certificates/ca.crt'), 'utf8');
    const token = await project.secret('ACCESS_TOKEN');
    writers = new Writers({ token, ledger, areKeyed: true, pace: 25, ca });
  });

  it('comes up with the documented commands, and answers at both balancers', async () => {
    await expectHealthy();
    await eventually(() => project.sh(curl));
    for (const port of project.ports) await project.sh(curl.replace(/:\d+/, `:${port}`));
    await primaryOfTwo('postgres-1');
  });

  it('saves the primary by the documented command', async () => {
    const document = await readFile(join(project.folder, 'docker/FLEET.md'), 'utf8');
    const [command] = /for server in [^`]+done/.exec(document)!;
    const fleet = up.replace(/ up .*/, ' "$@"');
    expect(await project.sh(`fleet() { ${fleet}; }\n${command}`)).toMatch(
      /backup command end: completed successfully/,
    );
  });

  it('goes on while every instance is replaced, as documented', async () => {
    writers!.aim(project.ports[0]);
    writers!.start();
    await goesOn();
    for (const service of INSTANCES) {
      const before = (await project.container(service)).Id;
      await project.sh(`${up} --wait --no-deps --force-recreate ${service}`);
      expect((await project.container(service)).Id).not.toBe(before);
      await goesOn();
    }
    await writers!.stop();
    expect(ledger.unexpected).toEqual([]);
  });

  it('ends by itself when it is stopped', async () => {
    await project.compose('stop');
    for (const [service, { State }] of await project.containers(...INSTANCES))
      expect([service, State.ExitCode, State.OOMKilled]).toEqual([service, 0, false]);
  });
});
