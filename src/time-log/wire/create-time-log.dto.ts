import { Obeys } from '../../../libs/strict-request/src/index.js';
import { type AllTimeLogValues, TIME_LOG_FIELDS as FIELDS } from '../domain/time-log.js';

/** The body of a create or a correction: all values of a log. Messages follow the order of these fields. */
export class CreateTimeLogDto implements AllTimeLogValues {
  @Obeys(FIELDS.projectId.fault)
  projectId!: string;

  @Obeys(FIELDS.duration.fault)
  duration!: number;

  @Obeys(FIELDS.description.fault)
  description = '';

  @Obeys(FIELDS.date.fault)
  date!: string;
}
