import { rm } from 'node:fs/promises';

export default async function tearDown() {
  const { servers, directory } = globalThis.testDatabases;
  for (const server of servers) server.signal('SIGINT');
  await Promise.all(servers.map(({ ended }) => ended));
  await rm(directory, { recursive: true, force: true });
}
