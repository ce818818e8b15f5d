import type { ServiceProcess } from '../../../support/service-process.js';

/**
 * Runs before the service: at a signal it prints the bytes that JavaScript holds after a collection. The resident
 * memory depends on when the collector ran.
 */
const REPORTER = `--import=data:text/javascript,${encodeURIComponent(
  `import { setFlagsFromString } from 'node:v8';
  import { runInNewContext } from 'node:vm';
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  let reports = 0;
  process.on('SIGUSR2', () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    process.stderr.write('live heap ' + reports++ + ': ' + (heapUsed + external) + ' bytes\\n');
  });`,
)}`;

/** The environment of a service whose live heap is measured. */
export const WITH_LIVE_HEAP = { NODE_OPTIONS: REPORTER };

/** Returns a function that resolves with the megabytes that a service holds after a collection. */
export function liveHeapOf({ child, printed }: ServiceProcess): () => Promise<number> {
  let reports = 0;
  return async () => {
    child.kill('SIGUSR2');
    const [, bytes] = await printed(new RegExp(`live heap ${reports++}: (\\d+) bytes\\n`));
    return Number(bytes) / 1e6;
  };
}
