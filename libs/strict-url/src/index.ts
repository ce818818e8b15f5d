/*
 * Without it a URL connects with another meaning than its text: parameters are ignored, and TLS with them. A byte order
 * mark becomes a part of a setting.
 */

export { EVENT_PROTOCOLS, validateBrokerUrl } from './broker-url.js';
export { readTextFile } from './text-file.js';
export { isDecodable } from './url-query.js';
export { isWebhook, validateEventsSecret, webhookKeysOf } from './webhook.js';
