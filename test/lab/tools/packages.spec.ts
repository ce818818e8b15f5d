import { beforeAll, describe, expect, it } from '@jest/globals';
import { useFolder } from '../../support/fixtures.js';
import { node, packLib, packWorkspace } from '../package/run.js';

describe.each(['time-logs', '@time-logs/client', '@time-logs/embedded-postgres'])(
  'the package %s',
  (name) => {
    const inFolder = useFolder('time-logs-tarball-');
    let tarball: string;

    beforeAll(async () => {
      if (name === 'time-logs') [tarball] = await packLib(inFolder());
      else ({ tarball } = await packWorkspace(name, inFolder()));
    });

    it('is clean for publint', async () => {
      const publint = 'test/lab/tools/node_modules/publint/src/cli.js';
      // Its suggestion to leave out tests is not for those of the examples.
      expect(await node(publint, ['run', '--strict', '--level', 'warning', tarball])).toContain('All good!');
    });
  },
);
