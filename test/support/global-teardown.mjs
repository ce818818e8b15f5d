import { rm } from 'node:fs/promises';

export default async function tearDown() {
  const { server, directory } = globalThis.testDatabase;
  await server.stop();
  await rm(directory, { recursive: true, force: true });
}
