import { spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { create, send } from '../../support/requests.js';
import { useTestApp } from '../../support/test-app.js';
import { describeWith } from '../describe-with.js';

/** Returns the exit status of the linter, and what it says. */
function check(metrics: string): [number | null, string] {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: metrics });
  return [status, String(stdout) + String(stderr)];
}

describeWith('promtool')('the linter of Prometheus', () => {
  // No broker listens there. The relay has metrics all the same.
  const app = useTestApp({ eventsUrl: 'nats://127.0.0.1:1' });

  it('takes the metrics of the service and of its runtime', async () => {
    await create(app);
    const { text } = await send(app, '/metrics');
    expect(text).toContain('time_log_event_lag_seconds');
    expect(check(text)).toEqual([0, '']);
  });
});
