import type { PageRequest } from '../../time-log/domain/page-request.js';
import type { PeriodSum, ProjectSum, Sum, Totals } from '../domain/totals.js';
import { metaOf, type TimeLogListResponse } from '../../time-log/wire/time-log-bodies.js';

/** A sum as the number that is nearest to it. */
type Rounded<S extends Sum> = Omit<S, 'duration'> & { readonly duration: number };

/** The body of an answer with totals. */
export interface TotalsResponse {
  readonly success: true;
  readonly data: readonly (Rounded<ProjectSum> | Rounded<PeriodSum>)[];
  readonly meta: Rounded<Sum> & TimeLogListResponse['meta'];
}

/** The JSON of totals. Each sum is written out, with all its digits. */
export function totalsJson({ whole, groups, groupCount }: Totals, page: PageRequest): string {
  const data = groups.map(
    (group) => `{${membersOf(nameOf(group))},"count":${group.count},"duration":${group.duration}}`,
  );
  const meta = `{"count":${whole.count},"duration":${whole.duration},${membersOf(metaOf(groupCount, page))}}`;
  return `{"success":true,"data":[${data.join(',')}],"meta":${meta}}`;
}

/** The answer with totals, as a host can give it too. Each sum is the nearest number; `Totals` has all its digits. */
export function totalsResponse(totals: Totals, page: PageRequest): TotalsResponse {
  return JSON.parse(totalsJson(totals, page), finite) as TotalsResponse;
}

/** Each member is named, whatever a host's adapter puts into a group. */
function nameOf(group: ProjectSum | PeriodSum): object {
  return 'projectId' in group ? { projectId: group.projectId } : { from: group.from, to: group.to };
}

function membersOf(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}

/** JSON has no infinity: it would become null. */
function finite(_name: string, value: unknown): unknown {
  return value === Infinity ? Number.MAX_VALUE : value;
}
