import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { type Agent, request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

const SCRIPT = join(import.meta.dirname, '..', '..', '..', 'docker', 'fleet', 'certificates.sh');

/** The CAs that a client trusts, and its certificate and key: texts in PEM. */
export interface Identity {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Makes the certificates of the fleet in a new folder, each machine's in a folder of its name. Returns the folder. */
export async function makeCertificates(folder: string): Promise<string> {
  await promisify(execFile)('sh', [SCRIPT, folder]);
  return folder;
}

/** The identity of a machine; without a name that of a client, who has nothing to show. */
export async function identityOf(folder: string, machine?: string): Promise<Identity> {
  const ca = await readFile(join(folder, 'ca.crt'), 'utf8');
  if (machine === undefined) return { ca };
  const pem = await readFile(join(folder, machine, 'tls.pem'), 'utf8');
  return { ca, cert: pem, key: pem };
}

/**
 * `fetch` over TLS for those who trust this CA. At any address it is to speak to `localhost`. Each request has a
 * connection of its own, unless an agent keeps one.
 */
export function fetchOver(identity: Identity, agent: Agent | false = false) {
  return (url: string, { method = 'GET', headers, body, signal }: RequestInit = {}): Promise<Response> =>
    new Promise((resolve, reject) => {
      const options = { ...identity, servername: 'localhost', method, agent, signal: signal ?? undefined };
      const all = Object.fromEntries(new Headers(headers));
      const outgoing = request(url, { ...options, headers: all }, (answer) => {
        text(answer).then((answered) => {
          const { statusCode, headersDistinct } = answer;
          const lines = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
            values.map((value): [string, string] => [name, value]),
          );
          resolve(new Response(answered || null, { status: statusCode!, headers: lines }));
        }, reject);
      });
      outgoing.on('error', reject).end(body ?? undefined);
    });
}
