import { spawnSync } from 'node:child_process';
import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';

/** Whether a file system of a chosen size can be mounted here, which takes root. */
export const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;

/** A small disk of its own, which can be filled to the last block and emptied again. */
export class SmallDisk {
  private constructor(readonly path: string) {}

  /** Mounts a new disk of a size (such as `2m`) over a directory. */
  static mount(path: string, size: string, { uid, gid } = { uid: 0, gid: 0 }, mode = '700'): SmallDisk {
    const options = `size=${size},mode=${mode},uid=${uid},gid=${gid}`;
    const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path]);
    if (status !== 0) throw new Error(`mount: ${String(stderr)}`);
    return new SmallDisk(path);
  }

  /** Leaves no free block. */
  async fill(): Promise<void> {
    const file = await open(this.ballast, 'w');
    const { bsize, bavail } = await statfs(this.path);
    await file.write(Buffer.alloc(bsize * bavail)).finally(() => file.close());
  }

  /** Gives back what `fill` took. */
  async relieve(): Promise<void> {
    await rm(this.ballast, { force: true });
  }

  unmount(): void {
    spawnSync('umount', [this.path]);
  }

  private get ballast(): string {
    return join(this.path, 'ballast');
  }
}
