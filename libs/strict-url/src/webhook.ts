const PREFIX = 'whsec_';
const [MIN_KEY_BYTES, MAX_KEY_BYTES] = [24, 64];
const ADVICE = `set it to the output of: echo "${PREFIX}$(openssl rand -base64 32)"`;

/** Returns whether events go to a webhook by this URL, and not to a broker. */
export function isWebhook(url: string | undefined): boolean {
  return /^https?:/i.test(url ?? '');
}

/** Returns an error message for the secret of a webhook that is invalid or missing. It has no value. */
export function validateEventsSecret(url: string | undefined, secret?: string): string | undefined {
  if (!isWebhook(url)) return undefined;
  return secret === undefined ? `is missing, and a webhook needs it; ${ADVICE}` : validateSecrets(secret);
}

/** Returns an error message for a text that is not one or two secrets. */
export function validateSecrets(text: string): string | undefined {
  return webhookKeysOf(text)
    ? undefined
    : `must be one or two secrets, separated by a comma, of ${PREFIX} and the base64 of ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes; ${ADVICE}`;
}

/** Returns the keys of one or two secrets (Standard Webhooks 1.0, "Signature scheme"); undefined if one is invalid. */
export function webhookKeysOf(text: string): Buffer[] | undefined {
  const secrets = text.split(',').map((secret) => secret.trim());
  const keys = secrets.map((secret) => Buffer.from(secret.slice(PREFIX.length), 'base64'));
  const areValid = keys.every(
    (key, index) =>
      key.length >= MIN_KEY_BYTES &&
      key.length <= MAX_KEY_BYTES &&
      // Other libraries do not decode all that Node.js does, such as base64 without padding.
      secrets[index] === PREFIX + key.toString('base64'),
  );
  return areValid && keys.length <= 2 ? keys : undefined;
}
