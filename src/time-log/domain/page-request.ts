import { DomainError } from '../../../libs/errors/src/domain-error.js';

const DIGITS = /^\d+$/;

/** The maximum number of items of a page. */
export const MAX_PAGE_LIMIT = 1000;
/** The default page. */
export const DEFAULT_PAGE = { number: 1, limit: 50 };

/** A page of a list. Numbers start at 1; the limit is the maximum number of its items. */
export class PageRequest {
  private constructor(
    readonly number: number,
    readonly limit: number,
  ) {}

  /** Returns a page. Throws DomainError VALIDATION_ERROR unless both are whole numbers in range. */
  static of(number: number, limit: number): PageRequest {
    const faults = [pageNumberFault(String(number)), pageLimitFault(String(limit))].filter(
      (fault) => fault !== undefined,
    );
    if (faults.length > 0) throw new DomainError('VALIDATION_ERROR', faults.join('; '));
    return PageRequest.ofChecked(number, limit);
  }

  /** Returns a page of numbers that the functions below found valid, as a DTO does. */
  static ofChecked(number: number, limit: number): PageRequest {
    return new PageRequest(number, limit);
  }

  /** The number of items before this page, up to 2^53 times 1000: too large for a number. */
  get offset(): bigint {
    return BigInt(this.number - 1) * BigInt(this.limit);
  }
}

/** Returns the error message for the text of a page number, or undefined. */
export function pageNumberFault(value: unknown): string | undefined {
  return isWholeNumber(value, Number.MAX_SAFE_INTEGER)
    ? undefined
    : 'page must be a whole number from 1 to 2^53-1';
}

/** Returns the error message for the text of a limit, or undefined. */
export function pageLimitFault(value: unknown): string | undefined {
  return isWholeNumber(value, MAX_PAGE_LIMIT)
    ? undefined
    : `limit must be a whole number from 1 to ${MAX_PAGE_LIMIT}`;
}

function isWholeNumber(value: unknown, maximum: number): boolean {
  return typeof value === 'string' && DIGITS.test(value) && Number(value) >= 1 && Number(value) <= maximum;
}
