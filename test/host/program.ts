import { startHost } from './host.js';

/** Runs the host on the database of DATABASE_URL and prints its address. */
async function main(): Promise<void> {
  const { DATABASE_URL: databaseUrl = '', MESSAGES_PORT } = process.env;
  const app = await startHost({ databaseUrl, messagesPort: Number(MESSAGES_PORT) });
  console.log(await app.getUrl());
}

void main();
