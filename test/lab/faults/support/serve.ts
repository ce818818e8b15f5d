import { afterEach } from '@jest/globals';
import { type ServiceProcess, startService } from '../../../support/service-process.js';
import { TOKEN } from './service-under-writes.js';

type Env = Readonly<Record<string, string>>;

const running: ServiceProcess[] = [];
afterEach(() => Promise.all(running.splice(0).map((service) => service.end('SIGKILL'))));

/** Starts the service with the declared token; it is killed after the test. */
export async function serve(databaseUrl: string, env: Env = {}): Promise<ServiceProcess> {
  const service = await startService({ DATABASE_URL: databaseUrl, ACCESS_TOKEN: TOKEN, ...env });
  running.push(service);
  return service;
}

/** How many lines of what a service has printed match. */
export function linesOf({ output }: Pick<ServiceProcess, 'output'>, pattern: RegExp): number {
  return output()
    .split('\n')
    .filter((line) => pattern.test(line)).length;
}
