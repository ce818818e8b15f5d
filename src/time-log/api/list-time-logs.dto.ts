import { Omittable, Rule } from '../../../libs/strict-request/src/index.js';
import {
  DEFAULT_PAGE,
  pageLimitFault,
  pageNumberFault,
  PageRequest,
  Period,
  periodEndFault,
  periodOrderFault,
  type TimeLogFilter,
} from '../domain/time-log-query.js';
import type { AttributeValues } from '../domain/attribute-rules.js';
import { projectIdsFault, parseProjectIds } from '../domain/time-log.rules.js';

/** The filter of a query, as text. Error messages follow the order of these fields. */
export class TimeLogFilterDto {
  @Omittable()
  @Rule(projectIdsFault)
  projectId?: string;

  @Omittable()
  @Rule((value) => periodEndFault('from', value))
  @Rule((value, { to }: TimeLogFilterDto) => periodOrderFault(value, to))
  from?: string;

  @Omittable()
  @Rule((value) => periodEndFault('to', value))
  to?: string;

  /** Returns the values of attributes that the query names; undefined if there are none. */
  declare attributes?: () => AttributeValues;
}

/** The query of a list, as text. Error messages follow the order of these fields. */
export class ListTimeLogsDto extends TimeLogFilterDto {
  @Rule(pageNumberFault)
  page = String(DEFAULT_PAGE.number);

  @Rule(pageLimitFault)
  limit = String(DEFAULT_PAGE.limit);
}

/** The filter and the page of a list. */
export interface ListCriteria {
  readonly filter: TimeLogFilter;
  readonly page: PageRequest;
}

/** Returns the filter and the page of a valid query. */
export function criteriaOf(query: ListTimeLogsDto): ListCriteria {
  return { filter: filterIn(query), page: PageRequest.of(query.page, query.limit) };
}

/** Returns the filter of a valid query. */
export function filterIn({ projectId, from, to, attributes }: TimeLogFilterDto): TimeLogFilter {
  return {
    projectIds: projectId === undefined ? undefined : parseProjectIds(projectId),
    period: Period.of(from, to),
    attributes: attributes?.(),
  };
}

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
  let links: [relation: string, number: number][] = [['first', 1]];
  if (page.number > 1) links.push(['prev', Math.min(page.number - 1, last)]);
  if (page.number < last) links.push(['next', page.number + 1]);
  links.push(['last', last]);

  let filter = '';
  const add = (name: string, value: string | undefined) => {
    if (value !== undefined) filter += `${name}=${value}&`;
  };
  add('projectId', projectIds?.join());
  add('from', period.from);
  add('to', period.to);
  for (const [name, value] of Object.entries(attributes))
    add(`attributes.${name}`, encodeURIComponent(String(value)));
  add('by', by);
  const link = ([relation, number]: (typeof links)[number]) =>
    `<?${filter}page=${number}&limit=${page.limit}>; rel="${relation}"`;
  let header = links.map(link).join(', ');
  for (const unneeded of LESS_NEEDED) {
    if (header.length <= MAX_LENGTH || links.length === 1) break;
    links = links.filter(([relation]) => relation !== unneeded);
    header = links.map(link).join(', ');
  }
  return header;
}
