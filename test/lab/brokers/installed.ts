import { spawnSync } from 'node:child_process';

/** Whether a program is there. */
export function isInstalled(program: string): boolean {
  return spawnSync('which', [program]).status === 0;
}
