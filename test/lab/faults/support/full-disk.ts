import { spawnSync } from 'node:child_process';
import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';

/** Whether a file system of a chosen size can be mounted here, which takes root. */
export const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;

/** Mounts a small disk of a size (such as `2m`) over a directory, which can be filled to the last block and emptied. */
export function mountSmallDisk(path: string, size: string, { uid, gid } = { uid: 0, gid: 0 }, mode = '700') {
  const options = `size=${size},mode=${mode},uid=${uid},gid=${gid}`;
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path]);
  if (status !== 0) throw new Error(`mount: ${String(stderr)}`);
  const ballast = join(path, 'ballast');
  return {
    /** Leaves no free block. */
    fill: async () => {
      const file = await open(ballast, 'w');
      const { bsize, bavail } = await statfs(path);
      await file.write(Buffer.alloc(bsize * bavail)).finally(() => file.close());
    },
    /** Gives back what `fill` took. */
    relieve: () => rm(ballast, { force: true }),
    unmount: () => void spawnSync('umount', [path]),
  };
}
