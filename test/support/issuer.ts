import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

/** A pair of keys; the public one as an issuer publishes it. */
export interface IssuerKey {
  readonly alg: string;
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export async function makeKey(alg: string, kid: string): Promise<IssuerKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, publicKey, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** The claims of a token; `undefined` leaves one out. */
export type Claims = Readonly<Record<string, unknown>>;

/** Seconds of Unix time. */
export const seconds = () => Math.floor(Date.now() / 1_000);

/** An issuer of JWTs on loopback, which can misbehave. */
export class Issuer {
  readonly issuer = 'https://issuer.example/realm';
  readonly audience = 'time-logs';
  /** The published keys. */
  keys: IssuerKey[] = [];
  /** How often it was asked. */
  asked = 0;
  /** Answers instead of the issuer. */
  misbehaviour: RequestListener | undefined;

  private readonly server = createServer((request, response) => {
    this.asked++;
    if (this.misbehaviour) this.misbehaviour(request, response);
    else response.end(JSON.stringify({ keys: this.keys.map(({ jwk }) => jwk) }));
  });

  private constructor(private port: number) {}

  static async start(...keys: IssuerKey[]): Promise<Issuer> {
    const issuer = new Issuer(0);
    issuer.keys = keys;
    await issuer.open();
    return issuer;
  }

  /** The settings of the service for it. */
  get settings(): { jwksUrl: string; issuer: string; audience: string } {
    return { jwksUrl: `http://127.0.0.1:${this.port}/jwks`, issuer: this.issuer, audience: this.audience };
  }

  /** A token that is good for everything, but for what is said otherwise. */
  async sign(claims: Claims = {}, header: object = {}, key = this.keys[0]!): Promise<string> {
    const all = {
      iss: this.issuer,
      aud: this.audience,
      sub: 'ada',
      exp: seconds() + 300,
      scope: 'openid time-logs:read time-logs:write',
      ...claims,
    };
    return new SignJWT(all)
      .setProtectedHeader({ alg: key.alg, kid: key.jwk.kid!, ...header })
      .sign(key.privateKey);
  }

  /** Listens, on the port that it had before if it had one. */
  async open(): Promise<void> {
    await once(this.server.listen(this.port, '127.0.0.1'), 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Is away: connections are refused, and those that exist end. */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}

/** Ways in which an issuer that can be reached is of no use. */
export const MISBEHAVIOURS: Readonly<Record<string, RequestListener>> = {
  'answers garbage': (_request, response) => response.end('<html>'),
  'answers JSON that is no set of keys': (_request, response) => response.end('{"keys":1}'),
  'answers 500': (_request, response) => response.writeHead(500).end('{"keys":[]}'),
  'answers 204': (_request, response) => response.writeHead(204).end(),
  'leads elsewhere': (_request, response) =>
    response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end('{"keys":[]}'),
  'hangs up': (request) => request.destroy(),
  'never answers': () => undefined,
  'never ends its answer': (_request, response) => response.writeHead(200).write('{"keys":['),
};
