import { spawnSync } from 'node:child_process';

/** Whether a program is on the path. */
export function isInstalled(program: string): boolean {
  return spawnSync('which', [program]).status === 0;
}
