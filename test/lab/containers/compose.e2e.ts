import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { TIME_LOGS } from '../../support/requests.js';
import { describeWithDocker } from './engine.js';
import { useProject } from './project.js';

describeWithDocker('the service in containers', () => {
  const project = useProject('-f', 'docker/compose.yaml');
  /** Start and curl; then commands inside. */
  let documented: string[];
  let answer: string;
  const inService = (command: string) => project.compose('exec', '-T', 'time-logs', 'sh', '-c', command);

  beforeAll(async () => {
    documented = await project.commands('docker/README.md', '## In containers');
    answer = await project.sh(documented[0]!);
  });
  const listed = async () =>
    fetch(`http://localhost:${project.ports[0]}${TIME_LOGS}`, {
      headers: { authorization: `Bearer ${await project.secret('ACCESS_TOKEN')}` },
    });

  it('is healthy after the documented commands, and answers them', async () => {
    expect(answer).toMatch(/OK$/);
    for (const { State } of (await project.containers()).values())
      expect(State.Health?.Status).toBe('healthy');
  });

  it('records a log by the line of curl in the README', async () => {
    const [curl] = /^curl -s .+time-logs$/m.exec(await readFile(join(project.folder, 'README.md'), 'utf8'))!;
    const printed = await project.sh(`TOKEN=${await project.secret('ACCESS_TOKEN')}\n${curl}`);
    expect(JSON.parse(printed)).toMatchObject({ success: true, data: { duration: 1.5 } });
  });

  it('is not root, and can write only to its data', async () => {
    expect(await inService('id -un; touch /app/here 2>&1 || true')).toBe(
      "node\ntouch: cannot touch '/app/here': Read-only file system\n",
    );
    expect(await inService('printenv POSTGRES_PASSWORD')).toBe('\n');
  });

  it('has a heap that leaves a third of its memory', async () => {
    const bytes = await inService('node -p "v8.getHeapStatistics().heap_size_limit"');
    const { Memory } = (await project.container('time-logs')).HostConfig;
    expect(Number(bytes)).toBeGreaterThan(0);
    expect(Number(bytes)).toBeLessThan((Memory * 2) / 3);
  });

  it('makes tokens and private backups by the documented commands', async () => {
    const printed = await project.sh(documented[1]!.replace(' exec ', ' exec -T '));
    const [token] = /^\S{20,}$/m.exec(printed)!;
    const authorization = `Bearer ${token}`;
    const health = await fetch(`http://localhost:${project.ports[0]}/health`, { headers: { authorization } });
    expect(health.status).toBe(200);
    const backup = join(project.folder, 'FILE');
    const { mode, uid } = await stat(backup);
    expect([mode & 0o777, uid]).toEqual([0o600, process.getuid!()]);
    expect(gunzipSync(await readFile(backup)).length).toBeGreaterThan(0);
  });

  it('is started again when it was killed, and has its logs', async () => {
    await project.kill('time-logs');
    await eventually(async () => {
      expect((await project.container('time-logs')).RestartCount).toBe(1);
      expect((await listed()).status).toBe(200);
    });
    expect(await (await listed()).json()).toMatchObject({ meta: { total: 1 } });
  });

  it('ends by itself when it is stopped', async () => {
    await project.compose('stop', 'time-logs');
    const { State } = await project.container('time-logs');
    // After its time of grace it would have been killed: 137.
    expect(State).toMatchObject({ Status: 'exited', ExitCode: 0, OOMKilled: false });
  });
});
