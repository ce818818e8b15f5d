import type { PageRequest } from '../domain/page-request.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';
import type { Grouping } from '../domain/totals.js';

/** What the pages of a list, or of totals, are of. */
interface Asked extends TimeLogFilter {
  readonly by?: Grouping | undefined;
}

/** The `Link` header (RFC 8288) with the first, previous, next and last page, under the filter that was applied. */
export function pageLinks(
  path: string,
  { projectId, period, by }: Asked,
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

/** The `Link` header of a page of events: the next one goes on from the last event that was seen. */
export function nextEventsLink(path: string, lastEventId: string | undefined, limit: number): string {
  const place = lastEventId === undefined ? '' : `lastEventId=${lastEventId}&`;
  return `<${path}?${place}limit=${limit}>; rel="next"`;
}
