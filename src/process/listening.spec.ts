import { describe, expect, it } from '@jest/globals';
import { listen } from './listening.js';

const refusing = (code: string) => ({
  listen: () => Promise.reject(Object.assign(new Error('in the words of the system'), { code })),
  getHttpServer: () => undefined,
});

describe('listen', () => {
  it.each([
    ['EADDRINUSE', 'port 80 is taken: stop what listens there, or set PORT to another one'],
    ['EACCES', 'this user may not listen on port 80: set PORT to one from 1024'],
    ['EADDRNOTAVAIL', 'elsewhere is no address of this machine: set HOST to one, or leave it out'],
    [
      'ENOTFOUND',
      'the name elsewhere has no address: set HOST to an address of this machine, or leave it out',
    ],
    [
      'EAI_AGAIN',
      'the name elsewhere has no address: set HOST to an address of this machine, or leave it out',
    ],
    ['EMFILE', 'in the words of the system'],
  ])('says what to do about %s', async (code, message) => {
    const listening = listen(refusing(code), { host: 'elsewhere', port: 80 });
    await expect(listening).rejects.toMatchObject({ message });
  });
});
