import { type Fault, faultOf, throwFaults } from '../../../libs/errors/src/domain-error.js';

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

  /** Returns a page. Throws DomainError VALIDATION_ERROR unless both are whole numbers in range, or their digits. */
  static of(number: number | string, limit: number | string): PageRequest {
    throwFaults([pageNumberFault(number), pageLimitFault(limit)]);
    return new PageRequest(Number(number), Number(limit));
  }

  /** The number of items before this page, up to 2^53 times 1000: too large for a number. */
  get offset(): bigint {
    return BigInt(this.number - 1) * BigInt(this.limit);
  }
}

/** A page as the code of a host passes it. The default is the first page of 50 items. */
export type PageInput = Partial<Pick<PageRequest, keyof typeof DEFAULT_PAGE>>;

/** Returns the page of a call. Throws DomainError VALIDATION_ERROR. */
export function pageOf(page: PageInput = {}): PageRequest {
  if (page instanceof PageRequest) return page;
  return PageRequest.of(page.number ?? DEFAULT_PAGE.number, page.limit ?? DEFAULT_PAGE.limit);
}

/** Returns the fault of a page number, or of its text, or undefined. */
export function pageNumberFault(value: unknown): Fault | undefined {
  return wholeNumberFault('page', value, Number.MAX_SAFE_INTEGER, '2^53-1');
}

/** Returns the fault of a limit, or of its text, or undefined. */
export function pageLimitFault(value: unknown): Fault | undefined {
  return wholeNumberFault('limit', value, MAX_PAGE_LIMIT);
}

function wholeNumberFault(name: string, value: unknown, max: number, end = String(max)): Fault | undefined {
  const isWhole = typeof value === 'string' ? DIGITS.test(value) : Number.isInteger(value);
  if (isWhole && Number(value) >= 1 && Number(value) <= max) return undefined;
  return faultOf(name, value, 'range', `must be a whole number from 1 to ${end}`, { min: 1, max });
}
