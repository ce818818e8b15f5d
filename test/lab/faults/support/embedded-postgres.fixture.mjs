// A service in a process of its own, for the specs that kill one: runs the compiled library and prints the server's
// URL, or the error in its place. SIGTERM stops it; it outlives a Ctrl-C, so that a spec sees what else does.
import { EmbeddedPostgres } from '../../../../libs/embedded-postgres/dist/index.js';

process.on('SIGINT', () => {});
try {
  const postgres = await EmbeddedPostgres.start({ dataDirectory: process.argv[2] });
  console.log(postgres.url);
  process.once('SIGTERM', () => void postgres.stop().then(() => process.exit()));
} catch (error) {
  console.log(`${error.name}: ${error.message}`);
}
