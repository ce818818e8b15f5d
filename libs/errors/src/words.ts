import { STATUS_CODES } from 'node:http';
import type { HttpException } from '@nestjs/common';

/** The most characters of a message that is not ours. */
const LENGTH = 1_000;
/** What Nest says where a guard has only returned false. */
const GUARD_WITHOUT_WORDS = 'Forbidden resource';

/**
 * The text that an HttpException with a status of 4xx was made with, as one bounded line. Undefined where it was made
 * with none, and for any other status: what a fault says is for the log alone.
 */
export function wordsOf(exception: HttpException): string | undefined {
  const status = exception.getStatus();
  if (!(status >= 400 && status <= 499)) return undefined;
  const text = oneLine(textIn(exception.getResponse()));
  // Without a text Nest takes the name of the status.
  return ['', STATUS_CODES[status], GUARD_WITHOUT_WORDS].includes(text) ? undefined : text;
}

/** Nest's pipes give several texts. An Error in the place of a text is not for clients. */
function textIn(response: unknown): string {
  if (response instanceof Error) return '';
  const { message } =
    typeof response === 'object' && response !== null
      ? (response as { message?: unknown })
      : { message: response };
  return [message]
    .flat()
    .filter((text) => typeof text === 'string')
    .join('; ');
}

/** Without line breaks, control and format characters, and lone surrogates. */
function oneLine(text: string): string {
  return text
    .slice(0, LENGTH)
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim();
}
