import type { Request } from 'express';
import type { PageRequest } from '../domain/page-request.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';

/** The filter of a list, or the filter and grouping of totals. */
interface PageFilter extends TimeLogFilter {
  readonly by?: string | undefined;
}

/** Returns the `Link` header (RFC 8288) with the first, previous, next and last page for the same filter. */
export function pageLinks(
  path: string,
  { projectId, period, by }: PageFilter,
  page: PageRequest,
  total: number,
): string {
  const last = Math.max(1, Math.ceil(total / page.limit));
  const links: [string, number][] = [['first', 1]];
  if (page.number > 1) links.push(['prev', Math.min(page.number - 1, last)]);
  if (page.number < last) links.push(['next', page.number + 1]);
  links.push(['last', last]);

  const filter = Object.entries({ projectId, from: period.from, to: period.to, by })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}&`)
    .join('');
  return links
    .map(([relation, number]) => `<${path}?${filter}page=${number}&limit=${page.limit}>; rel="${relation}"`)
    .join(', ');
}

/** Returns the path of a request. */
export function pathOf({ originalUrl }: Request): string {
  return originalUrl.split('?')[0]!;
}
