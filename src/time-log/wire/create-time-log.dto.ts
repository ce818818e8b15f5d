import { Rule } from '../../../libs/strict-request/src/index.js';
import { type AllTimeLogValues, TIME_LOG_FIELDS as FIELDS } from '../domain/time-log.js';

/** The body of a create or a correction: all values of a log. Error messages follow the order of these fields. */
export class CreateTimeLogDto implements AllTimeLogValues {
  @Rule(FIELDS.projectId.fault)
  projectId!: string;

  @Rule(FIELDS.duration.fault)
  duration!: number;

  @Rule(FIELDS.description.fault)
  description = '';

  @Rule(FIELDS.date.fault)
  date!: string;
}
