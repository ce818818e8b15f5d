import { rm } from 'node:fs/promises';

export default async function tearDown() {
  const { server, directory } = globalThis.testDatabase;
  server.signal('SIGINT');
  await server.ended;
  await rm(directory, { recursive: true, force: true });
}
