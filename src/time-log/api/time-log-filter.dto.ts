import { Rule, Omittable } from '../../../libs/strict-request/src/index.js';
import { periodEndFault, periodOrderFault } from '../domain/period.js';
import { projectIdsFault } from '../domain/time-log.rules.js';

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
}
