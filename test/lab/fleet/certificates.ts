import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';

const SCRIPT = join(import.meta.dirname, '..', '..', '..', 'docker', 'fleet', 'certificates.sh');

/** The CAs that a client trusts, and its certificate and key: texts in PEM. */
export interface Identity {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
}

/** The certificates that the script of the fleet makes. */
export class Certificates {
  private constructor(private readonly folder: string) {}

  /** Makes them in a new folder. */
  static async make(folder: string): Promise<Certificates> {
    await promisify(execFile)('sh', [SCRIPT, folder]);
    return new Certificates(folder);
  }

  /** The folder that a machine gets. */
  of(machine: string): string {
    return join(this.folder, machine);
  }

  /** The URL of a database, whose server must have a certificate of the CA. */
  verified(url: string): string {
    return `${url}?sslmode=verify-full&sslrootcert=${join(this.folder, 'ca.crt')}`;
  }

  /** That of a machine; without a name that of a client, who has nothing to show. */
  async identity(machine?: string): Promise<Identity> {
    const ca = await readFile(join(this.folder, 'ca.crt'), 'utf8');
    if (machine === undefined) return { ca };
    const pem = await readFile(join(this.of(machine), 'tls.pem'), 'utf8');
    return { ca, cert: pem, key: pem };
  }
}

/**
 * `fetch` over TLS for those who trust this CA. At any address it is to speak to `localhost`. Each request has a
 * connection of its own.
 */
export function fetchOver(identity: Identity): (url: string, init?: RequestInit) => Promise<Response> {
  return (url, { method = 'GET', headers, body, signal } = {}) =>
    new Promise((resolve, reject) => {
      const options = {
        ...identity,
        servername: 'localhost',
        method,
        headers: Object.fromEntries(new Headers(headers)),
        agent: false,
      };
      const outgoing = request(url, { ...options, signal: signal ?? undefined }, (answer) => {
        buffer(answer).then((bytes) => {
          const answered = new Headers();
          for (const [name, values = []] of Object.entries(answer.headersDistinct))
            for (const value of values) answered.append(name, value);
          const status = answer.statusCode!;
          const hasBody = ![204, 304].includes(status) && method !== 'HEAD';
          resolve(new Response(hasBody ? bytes : null, { status, headers: answered }));
        }, reject);
      });
      outgoing.on('error', reject).end(body ?? undefined);
    });
}
