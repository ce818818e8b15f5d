import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { create, send } from '../../support/requests.js';
import { useTestApp } from '../../support/test-app.js';
import { describeWith } from '../describe-with.js';

const FILES = join(import.meta.dirname, '..', '..', '..', 'docker', 'fleet');

/** Returns the exit status of a check, and what it says. */
function check(args: readonly string[], input = ''): [number | null, string] {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', ...args], { input });
  return [status, String(stdout) + String(stderr)];
}

describeWith('promtool')('the linter of Prometheus', () => {
  // No broker listens there. The relay has metrics all the same.
  const app = useTestApp({ eventsUrl: 'nats://127.0.0.1:1' });

  it('takes the metrics of the service and of its runtime', async () => {
    await create(app);
    const { text } = await send(app, '/metrics');
    expect(text).toContain('time_log_event_lag_seconds');
    expect(check(['metrics'], text)).toEqual([0, '']);
  });

  it('takes the alerts that ship', () => {
    expect(check(['rules', join(FILES, 'alerts.yaml')])).toEqual([0, expect.stringContaining('SUCCESS')]);
  });
});
