import { describeForeignHost } from './foreign-host.contract.js';
import { startHost } from './host.js';

describeForeignHost('a host in the tree', async (options) => {
  const app = await startHost(options);
  return { url: await app.getUrl(), close: () => app.close() };
});
