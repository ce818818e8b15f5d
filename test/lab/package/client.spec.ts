import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useFolder } from '../../support/fixtures.js';
import { node, packWorkspace, run } from './run.js';
import { unpacked } from './tarball.js';

/** Arguments with which npm uses no network: the package must contain all that it needs. */
const OFFLINE = ['install', '--offline', '--no-audit', '--no-fund'];

const PROGRAM = `
import { TimeLogClient, TimeLogError, type TimeLogPage } from '@time-logs/client';
import * as messages from '@time-logs/client/messages';

const client = new TimeLogClient({ baseUrl: 'BASE', token: 'a-token' });
const page: TimeLogPage = await client.listPage({ limit: 1 });
console.log(page.meta.total);

const proxy: messages.MessageProxy = {
  send: () => ({
    subscribe: (observer) => {
      observer.error({ success: false, error: 'FORBIDDEN', message: 'no' });
      return { unsubscribe: () => undefined };
    },
  }),
};
const error: unknown = await new messages.TimeLogMessageClient({ proxy }).listPage().catch((error) => error);
console.log(error instanceof TimeLogError && error.code);
`;

describe('the package of the client', () => {
  const inFolder = useFolder('time-logs-');
  let tarball: string;
  let service: Server;

  beforeAll(async () => {
    tarball = await packWorkspace('@time-logs/client', inFolder());
    service = createServer((_request, response) => {
      const page = { success: true, data: [], meta: { total: 7, page: 1, limit: 1 } };
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(page));
    });
    await once(service.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(async () => {
    service.close();
  });

  it('holds the compiled client and its sources, without tests, and nothing else', async () => {
    const files = [...(await unpacked(tarball)).keys()];
    const folders = files.map((file) => file.replace(/^(dist\/commonjs|dist|examples|src)\/[^/]+$/, '$1'));
    expect([...new Set(folders)].sort()).toEqual([
      ...['LICENSE', 'README.md', 'dist', 'dist/commonjs', 'examples', 'package.json', 'src'],
    ]);
    expect(files).toEqual(
      expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'dist/commonjs/index.js', 'src/index.ts']),
    );
    expect(files.filter((file) => /spec|tsbuildinfo/.test(file))).toEqual([]);
  });

  it('works by its name in an empty directory, compiled by a stock tsc, and brings no other package', async () => {
    const { port } = service.address() as AddressInfo;
    await writeFile(inFolder('package.json'), JSON.stringify({ private: true, type: 'module' }));
    await run('npm', [...OFFLINE, tarball], inFolder());
    await writeFile(inFolder('program.ts'), PROGRAM.replace('BASE', `http://127.0.0.1:${port}`));
    const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom'];
    await node('node_modules/typescript/bin/tsc', [...options, 'program.ts'], inFolder());
    expect(await run(process.execPath, ['program.js'], inFolder())).toBe('7\nFORBIDDEN\n');
    // As the Jest of a CommonJS project loads it.
    const required = `
      const error = new (require('@time-logs/client').TimeLogError)('NO_ANSWER', 'required');
      import('@time-logs/client').then(({ TimeLogError }) =>
        console.log(error.message, error.constructor === TimeLogError, error instanceof TimeLogError));`;
    const asCommonJs = ['--no-experimental-require-module', '--input-type=commonjs', '--eval', required];
    expect(await run(process.execPath, asCommonJs, inFolder())).toBe('required false true\n');
    const packages = await readdir(inFolder('node_modules'));
    expect(packages.filter((name) => !name.startsWith('.'))).toEqual(['@time-logs']);
  });
});
