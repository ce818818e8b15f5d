import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import type { Config } from './config.js';

type Address = Pick<Config, 'host' | 'port'>;

const noAddress = ({ host }: Address) =>
  `the name ${host} has no address: set HOST to an address of this machine, or remove it`;

/** The messages for system errors that a setting causes, by error code. */
const MESSAGES: Record<string, (address: Address) => string> = {
  EADDRINUSE: ({ port }) =>
    `port ${port} is in use: stop the program that listens on it, or set PORT to another one`,
  EACCES: ({ port }) => `this user may not listen on port ${port}: set PORT to 1024 or higher`,
  EADDRNOTAVAIL: ({ host }) => `${host} is not an address of this machine: set HOST to one, or remove it`,
  ENOTFOUND: noAddress,
  EAI_AGAIN: noAddress,
};

/** Starts listening and returns the port. Throws a one-line Error if a setting prevents it. */
export async function listen(
  app: Pick<INestApplication, 'listen' | 'getHttpServer'>,
  { host, port }: Address,
): Promise<number> {
  try {
    await (host === undefined ? app.listen(port) : app.listen(port, host));
  } catch (error) {
    const message = MESSAGES[(error as NodeJS.ErrnoException).code ?? ''];
    throw message ? new Error(message({ host, port }), { cause: error }) : error;
  }
  return (app.getHttpServer() as { address(): AddressInfo }).address().port;
}
