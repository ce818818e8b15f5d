import { expect } from '@jest/globals';
import type { ServiceProcess } from '../../../support/service-process.js';
import { percentiles } from '../../bench/statistics.js';
import { ask } from './ask.js';
import { memoryOf, peakMemoryOf } from './process-usage.js';

/** The milliseconds that an answer of 200 took. */
export async function served({ url }: ServiceProcess, path: string): Promise<number> {
  const { status, took } = await ask(url + path);
  expect(status).toBe(200);
  return took;
}

/** A look at how much memory a service takes from now on, once its pool and its compiled code are there. */
export async function memoryFromNow(service: ServiceProcess) {
  for (let i = 0; i < 50; i++) await served(service, '/health');
  const pid = service.child.pid!;
  const before = await memoryOf(pid);
  return async (what: string, times: readonly number[] = []) => {
    const peak = await peakMemoryOf(pid);
    const [p50, p90, longest] = percentiles(times, 0.5, 0.9, 1);
    const livez = times.length > 0 ? `livez p50 ${p50}, p90 ${p90}, longest ${longest} ms, ` : '';
    console.log(`${what}: ${livez}${before.toFixed()} to ${peak.toFixed()} MB`);
    return { before, peak };
  };
}
