import { createPublicKey, type JsonWebKeyInput } from 'node:crypto';
import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type * as Jose from 'jose';
import { DomainError } from '../../errors/src/index.js';

/** The interval of fetches. A key that the issuer withdraws is refused after this time. */
const REFRESH_INTERVAL_MS = 300_000;
/**
 * The time for which keys are used while the issuer is unavailable. It is longer than the usual
 * lifetime of a token, so that an outage affects no client that has one. It is limited, so that an
 * attacker who blocks the issuer cannot keep a withdrawn key valid.
 */
const MAX_KEY_AGE_MS = 86_400_000;
/** The minimum time between fetches for unknown keys, so that they do not flood the issuer. */
const COOLDOWN_MS = 5_000;
/** The minimum time between a failed fetch and the next one. jose itself does not wait. */
const FAILURE_COOLDOWN_MS = 1_000;
/** The timeout of a fetch. A request with less time gives up alone; later ones use the response. */
const FETCH_TIMEOUT_MS = 2_000;
/** The maximum number of bytes of a decompressed response. A usual key set has a few thousand. */
const MAX_RESPONSE_BYTES = 262_144;
/** The minimum size of an RSA key, as in jose (RFC 7518, section 3.3). */
const MIN_RSA_BITS = 2_048;

/**
 * The keys that an issuer publishes as a JSON Web Key Set (RFC 7517). They are fetched at the
 * start, every five minutes, and when a token names an unknown key. Only one fetch is in flight at
 * a time, and all requests wait for it. jose computes the age of keys by the system clock; the next
 * fetch corrects the effect of a change of that clock.
 */
export class RemoteKeySet implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('JWT');
  private readonly keys: ReturnType<typeof Jose.createRemoteJWKSet>;
  private timer: NodeJS.Timeout | undefined;
  /** The positions of the entries that could not be used in the last response. */
  private unusable = '';
  /** The time and reason of the failure of the last fetch; undefined if it succeeded. */
  private lastFailure: { readonly at: number; readonly reason: string } | undefined;

  constructor(
    jose: typeof Jose,
    url: string,
    /** Returns the milliseconds of a monotonic clock. */
    private readonly now: () => number = () => performance.now(),
  ) {
    this.keys = jose.createRemoteJWKSet(new URL(url), {
      cacheMaxAge: MAX_KEY_AGE_MS,
      cooldownDuration: COOLDOWN_MS,
      timeoutDuration: FETCH_TIMEOUT_MS,
      [jose.customFetch]: (...request) => this.fetch(...request),
    });
  }

  /** Does not wait for the keys: the service must start even if the issuer is unavailable. */
  onModuleInit(): void {
    this.refresh();
    this.timer = setInterval(() => this.refresh(), REFRESH_INTERVAL_MS).unref();
  }

  /** Stops fetching after the drain, until which requests are served. */
  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /**
   * Returns the key for a token with this header. Rejects with JWKSNoMatchingKey if the issuer has
   * none, or with DomainError SERVICE_UNAVAILABLE if no key is known and the issuer is unavailable.
   */
  find(...header: Parameters<Jose.JWTVerifyGetKey>): Promise<Jose.CryptoKey> {
    return this.keys(...header);
  }

  /** Fetches the keys. Never rejects: after a failure the old keys are kept. */
  private refresh(): void {
    this.keys.reload().catch(() => undefined);
  }

  /** Fetches for jose. Limits the size of the response, and fails at once just after a failure. */
  private async fetch(...request: Parameters<Jose.FetchImplementation>): Promise<Response> {
    if (this.lastFailure && this.now() - this.lastFailure.at < FAILURE_COOLDOWN_MS) throw unavailable();
    try {
      const keys = this.selectKeys(await readBody(await fetch(...request)));
      if (this.lastFailure) this.logger.log('the keys of the token issuer can be fetched again');
      this.lastFailure = undefined;
      return Response.json({ keys });
    } catch (error) {
      const reason = fetchFailureOf(error as Error);
      if (this.lastFailure?.reason !== reason)
        this.logger.warn(`the keys of the token issuer cannot be fetched: ${reason}`);
      this.lastFailure = { at: this.now(), reason };
      throw unavailable();
    }
  }

  /** Returns the usable keys of a response. jose would refuse all of them for one bad entry. */
  private selectKeys(text: string): readonly unknown[] {
    const entries = (JSON.parse(text) as { keys?: unknown } | null)?.keys;
    if (!Array.isArray(entries)) throw new ResponseRefused('the response is not a key set');
    const keys = entries.filter(isUsable);
    if (keys.length === 0 && entries.length > 0) throw new ResponseRefused('the response has no usable key');
    const unusable = entries.flatMap((entry, index) => (keys.includes(entry) ? [] : [index + 1])).join(', ');
    if (unusable !== '' && unusable !== this.unusable)
      this.logger.warn(`keys of the token issuer cannot be used: ${unusable} of ${entries.length}`);
    this.unusable = unusable;
    return keys;
  }
}

/** Returns whether an entry of a key set is a public key, of any algorithm, that is not too weak. */
function isUsable(entry: unknown): boolean {
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: entry, format: 'jwk' } as JsonWebKeyInput);
    const { modulusLength = MIN_RSA_BITS } = asymmetricKeyDetails!;
    return modulusLength >= MIN_RSA_BITS && !Object.hasOwn(entry as object, 'd');
  } catch {
    return false;
  }
}

function unavailable(): DomainError {
  return new DomainError(
    'SERVICE_UNAVAILABLE',
    'the keys of the token issuer are unavailable at the moment; retry later',
  );
}

/** The error for a response that is refused. */
class ResponseRefused extends Error {}

async function readBody(response: Response): Promise<string> {
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new ResponseRefused(`the status is ${response.status}, not 200`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_RESPONSE_BYTES)
      throw new ResponseRefused(`the response has more than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  // Unlike a Buffer, this removes a byte order mark.
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** Returns why a fetch failed, without any content of the response. */
function fetchFailureOf(error: Error): string {
  if (error instanceof ResponseRefused) return error.message;
  if (error instanceof SyntaxError) return 'the response is not JSON';
  if (error.name === 'TimeoutError') return `no response within ${FETCH_TIMEOUT_MS} ms`;
  // The error of the connection is the cause of that of fetch.
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
  return code ?? message;
}
