import type { PageRequest } from '../../time-log/domain/time-log-query.js';
import type { AttributeSum, GroupSum, PeriodSum, ProjectSum, Sum, Totals } from '../domain/totals.js';
import { metaOf, type TimeLogListResponse } from '../../time-log/api/responses.js';

/** A sum whose duration is the nearest number. */
type Rounded<S extends Sum> = S extends Sum ? Omit<S, 'duration'> & { readonly duration: number } : never;

/** The body of a response with totals. */
export interface TotalsResponse {
  readonly success: true;
  readonly data: readonly Rounded<GroupSum>[];
  readonly meta: Rounded<Sum> & TimeLogListResponse['meta'];
}

/** Returns the JSON of totals. Each sum has all its digits. */
export function totalsJson({ whole, groups, groupCount }: Totals, page: PageRequest): string {
  const data = groups.map(
    (group) => `{${membersOf(groupKeyOf(group))},"count":${group.count},"duration":${group.duration}}`,
  );
  const meta = `{"count":${whole.count},"duration":${whole.duration},${membersOf(metaOf(groupCount, page))}}`;
  return `{"success":true,"data":[${data.join(',')}],"meta":${meta}}`;
}

/** Returns the response body, also for hosts. Each sum is the nearest number; `Totals` has all digits. */
export function totalsResponse(totals: Totals, page: PageRequest): TotalsResponse {
  return JSON.parse(totalsJson(totals, page), replaceInfinity) as TotalsResponse;
}

/** Returns the members that identify a group. */
function groupKeyOf({
  attributes,
  projectId,
  from,
  to,
}: Partial<AttributeSum & ProjectSum & PeriodSum>): object {
  return { attributes, projectId, from, to };
}

function membersOf(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}

/** Replaces infinity, which JSON would turn into null. */
function replaceInfinity(_name: string, value: unknown): unknown {
  return value === Infinity ? Number.MAX_VALUE : value;
}
