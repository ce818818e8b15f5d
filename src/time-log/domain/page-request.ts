import { DomainError } from '../../../libs/errors/src/domain-error.js';

const DIGITS = /^\d+$/;

/** The most items of a page. */
export const PAGE_LIMIT = 1000;
/** The page for a request that names none. */
export const DEFAULT_PAGE = { number: 1, limit: 50 };

/** A page of a list. Numbers start at 1; the limit is the most items that it holds. */
export class PageRequest {
  private constructor(
    readonly number: number,
    readonly limit: number,
  ) {}

  /** Throws DomainError VALIDATION_ERROR for anything but whole numbers in range. */
  static of(number: number, limit: number): PageRequest {
    const faults = [pageNumberFault(String(number)), pageLimitFault(String(limit))].filter(
      (fault) => fault !== undefined,
    );
    if (faults.length > 0) throw new DomainError('VALIDATION_ERROR', faults.join('; '));
    return new PageRequest(number, limit);
  }

  /** How many logs come before this page. It can be 2^53 times 1000, too much for a number. */
  get offset(): bigint {
    return BigInt(this.number - 1) * BigInt(this.limit);
  }
}

/** What is wrong with the text of a page number, or undefined. */
export function pageNumberFault(value: unknown): string | undefined {
  return isWholeNumber(value, Number.MAX_SAFE_INTEGER)
    ? undefined
    : 'page must be a whole number from 1 to 2^53-1';
}

/** What is wrong with the text of a page's limit, or undefined. */
export function pageLimitFault(value: unknown): string | undefined {
  return isWholeNumber(value, PAGE_LIMIT)
    ? undefined
    : `limit must be a whole number from 1 to ${PAGE_LIMIT}`;
}

function isWholeNumber(value: unknown, most: number): boolean {
  return typeof value === 'string' && DIGITS.test(value) && Number(value) >= 1 && Number(value) <= most;
}
