import type { Request } from 'express';
import type { PageRequest } from '../domain/page-request.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';

/** The filter of a list, or the filter and grouping of totals. */
interface PageFilter extends TimeLogFilter {
  readonly by?: string | undefined;
}

/** The maximum size of the header. Node.js takes at most 16 KiB of headers, and filters can be long texts. */
const MAX_LENGTH = 15_500;
/** The links that a header leaves out if it is too long, in this order. One alone always fits. */
const LESS_NEEDED = ['first', 'last', 'prev'];

/**
 * Returns the `Link` header (RFC 8288) with the first, previous, next and last page for the same
 * filter. Its targets are queries alone, because a proxy may have removed a prefix of the path.
 */
export function pageLinks(
  { projectIds, period, attributes = {}, by }: PageFilter,
  page: PageRequest,
  total: number,
): string {
  const last = Math.max(1, Math.ceil(total / page.limit));
  const links: [string, number][] = [['first', 1]];
  if (page.number > 1) links.push(['prev', Math.min(page.number - 1, last)]);
  if (page.number < last) links.push(['next', page.number + 1]);
  links.push(['last', last]);

  const values = Object.entries(attributes).map(([name, value]) => [`attributes.${name}`, value] as const);
  const filter = [
    ...Object.entries({ projectId: projectIds?.join(), from: period.from, to: period.to }),
    ...values.map(([name, value]) => [name, encodeURIComponent(String(value))] as const),
    ['by', by] as const,
  ]
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}&`)
    .join('');
  const written = new Map(
    links.map(([relation, number]) => [
      relation,
      `<?${filter}page=${number}&limit=${page.limit}>; rel="${relation}"`,
    ]),
  );
  const header = () => [...written.values()].join(', ');
  for (const relation of LESS_NEEDED)
    if (written.size > 1 && header().length > MAX_LENGTH) written.delete(relation);
  return header();
}

/** Returns the `Location` of a log that a request has created, relative to the path of the request. */
export function locationOf({ originalUrl }: Pick<Request, 'originalUrl'>, id: string): string {
  const segment = originalUrl.split('?')[0]!.split('/').at(-1)!;
  if (segment === '') return id;
  // The first segment of a relative reference must not look like a scheme (RFC 3986, section 4.2).
  return `${segment.includes(':') ? './' : ''}${segment}/${id}`;
}
