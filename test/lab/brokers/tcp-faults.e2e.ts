import { beforeAll } from '@jest/globals';
import { ClientProxyFactory, Transport } from '@nestjs/microservices';
import { unusedPort } from '../../support/unused-port.js';
import { describeFaults } from './faults.contract.js';

const host = '127.0.0.1';
let port: number;
beforeAll(async () => {
  port = await unusedPort();
});

describeFaults('TCP', () => ({
  url: `tcp://${host}:${port}`,
  hasBroker: false,
  newClient: () => ClientProxyFactory.create({ transport: Transport.TCP, options: { host, port } }),
}));
