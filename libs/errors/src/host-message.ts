import { STATUS_CODES } from 'node:http';
import type { HttpException } from '@nestjs/common';
import { isError } from './reason.js';

/** The maximum number of characters in the message of a host. */
const MAX_MESSAGE_LENGTH = 1_000;
/** The messages of Nest if a guard returns false, and of `@nestjs/throttler`. */
const DEFAULT_MESSAGES = ['Forbidden resource', 'ThrottlerException: Too Many Requests'];

/**
 * Returns the message that a host gave an HttpException, as one line of limited length. Returns
 * undefined if it gave none, or if the status is not 4xx: such a message is only for the log.
 */
export function hostMessageOf(exception: HttpException): string | undefined {
  const status = exception.getStatus();
  if (!(status >= 400 && status <= 499)) return undefined;
  const text = toSingleLine(textOfResponse(exception.getResponse()));
  // Without a message Nest uses the name of the status.
  return ['', STATUS_CODES[status], ...DEFAULT_MESSAGES].includes(text) ? undefined : text;
}

/** Returns the message of a response. Nest's pipes give several. An Error is not for clients. */
function textOfResponse(response: unknown): string {
  if (isError(response)) return '';
  const { message } =
    typeof response === 'object' && response !== null
      ? (response as { message?: unknown })
      : { message: response };
  return [message]
    .flat()
    .filter((text) => typeof text === 'string')
    .join('; ');
}

/** Replaces line breaks, control and format characters, and lone surrogates with spaces. */
function toSingleLine(text: string): string {
  return text
    .slice(0, MAX_MESSAGE_LENGTH)
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim();
}
