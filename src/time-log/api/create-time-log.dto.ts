import { Obeys } from '../../../libs/strict-request/src/index.js';
import { dateFault, descriptionFault, durationFault, projectIdFault } from '../domain/time-log.rules.js';

/** The body of a create; messages come in the order of these fields. */
export class CreateTimeLogDto {
  @Obeys(projectIdFault)
  projectId!: string;

  @Obeys(durationFault)
  duration!: number;

  @Obeys(descriptionFault)
  description = '';

  @Obeys(dateFault)
  date!: string;
}
