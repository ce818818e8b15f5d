import { Omittable, Rule } from '../../../libs/strict-request/src/index.js';
import { DEFAULT_PAGE, pageLimitFault } from '../../time-log/domain/page-request.js';
import { projectIdsFault } from '../../time-log/domain/time-log.rules.js';
import { lastEventIdFault } from '../domain/time-log-event.js';

/** The query of the feed, as text. Error messages follow the order of these fields. */
export class ListEventsDto {
  @Omittable()
  @Rule(lastEventIdFault)
  lastEventId?: string;

  @Rule(pageLimitFault)
  limit = String(DEFAULT_PAGE.limit);

  @Omittable()
  @Rule(projectIdsFault)
  projectId?: string;
}
