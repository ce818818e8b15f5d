import { expect } from '@jest/globals';
import type { Project } from './project.js';

/** Every container of a project can do no more than its compose file says, as its kernel sees it. */
export async function expectContained(project: Project): Promise<void> {
  const containers = await project.containers();
  expect(containers.size).toBeGreaterThan(1);
  for (const [service, { HostConfig }] of containers) {
    const status = await project.compose('exec', '-T', service, 'cat', '/proc/1/status');
    const mounts = await project.compose('exec', '-T', service, 'cat', '/proc/1/mounts');
    expect([service, status]).toEqual([service, expect.stringMatching(/^NoNewPrivs:\t1$/m)]);
    expect([service, status]).toEqual([service, expect.stringMatching(/^CapEff:\t0{16}$/m)]);
    expect([service, mounts]).toEqual([service, expect.stringMatching(/^\S+ \/ \S+ ro,/m)]);
    expect([service, HostConfig.Memory]).not.toEqual([service, 0]);
    expect(HostConfig.LogConfig.Config).toEqual({ 'max-size': '10m', 'max-file': '5' });
  }
}
