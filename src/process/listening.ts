import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import type { Config } from './config.js';

type Address = Pick<Config, 'host' | 'port'>;

const noAddress = ({ host }: Address) =>
  `the name ${host} has no address: set HOST to an address of this machine, or leave it out`;

/** Advice for errors of the system that a setting causes. */
const REMEDIES: Record<string, (address: Address) => string> = {
  EADDRINUSE: ({ port }) => `port ${port} is taken: stop what listens there, or set PORT to another one`,
  EACCES: ({ port }) => `this user may not listen on port ${port}: set PORT to one from 1024`,
  EADDRNOTAVAIL: ({ host }) => `${host} is no address of this machine: set HOST to one, or leave it out`,
  ENOTFOUND: noAddress,
  EAI_AGAIN: noAddress,
};

/** Starts to listen. Returns the port. Throws an Error with one clear line where a setting prevents it. */
export async function listen(
  app: Pick<INestApplication, 'listen' | 'getHttpServer'>,
  { host, port }: Address,
): Promise<number> {
  try {
    await (host === undefined ? app.listen(port) : app.listen(port, host));
  } catch (error) {
    const remedy = REMEDIES[(error as NodeJS.ErrnoException).code ?? ''];
    throw remedy ? new Error(remedy({ host, port }), { cause: error }) : error;
  }
  return (app.getHttpServer() as { address(): AddressInfo }).address().port;
}
