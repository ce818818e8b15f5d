import { expect } from '@jest/globals';
import { sinkOf } from '../../../libs/event-relay/src/index.js';
import { BrokerProxy } from '../faults/support/broker-proxy.js';
import { eventually } from '../../../libs/host-kit/src/contract/eventually.js';

/** Ends a sink whose broker has not answered yet: nothing of it may stay connected. */
export async function expectNoConnectionLeft(brokerUrl: string): Promise<void> {
  const proxy = await BrokerProxy.before(brokerUrl);
  try {
    const gate = proxy.hold();
    const sink = await sinkOf(proxy.url(brokerUrl));
    const refused = expect(sink.connect()).rejects.toThrow('the connection is no longer needed');
    await eventually(() => expect(proxy.connections).toBe(1), 5_000);
    await sink.close();
    gate.open();
    await refused;
    await eventually(() => expect(proxy.connections).toBe(0), 5_000);
  } finally {
    await proxy.takeAway();
  }
}
