import { describe, expect, it } from '@jest/globals';
import { listen } from './serve.js';

const failingApp = (code: string) => ({
  listen: () => Promise.reject(Object.assign(new Error('the system error'), { code })),
  getHttpServer: () => undefined,
});

describe('listen', () => {
  it.each([
    ['EADDRINUSE', 'port 80 is in use: stop the program that listens on it, or set PORT to another one'],
    ['EACCES', 'this user may not listen on port 80: set PORT to 1024 or higher'],
    ['EADDRNOTAVAIL', 'elsewhere is not an address of this machine: set HOST to one, or remove it'],
    ['ENOTFOUND', 'the name elsewhere has no address: set HOST to an address of this machine, or remove it'],
    ['EAI_AGAIN', 'the name elsewhere has no address: set HOST to an address of this machine, or remove it'],
    ['EMFILE', 'the system error'],
  ])('explains %s', async (code, message) => {
    const listening = listen(failingApp(code), { host: 'elsewhere', port: 80 });
    await expect(listening).rejects.toMatchObject({ message });
  });
});
