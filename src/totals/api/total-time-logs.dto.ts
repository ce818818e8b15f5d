import { Omittable, Rule } from '../../../libs/strict-request/src/index.js';
import { DEFAULT_PAGE, pageLimitFault, pageNumberFault } from '../../time-log/domain/page-request.js';
import { type Grouping, groupingFault } from '../domain/totals.js';
import { TimeLogFilterDto } from '../../time-log/api/time-log-filter.dto.js';

/** The query of totals, as text. Error messages follow the order of these fields. */
export class TotalTimeLogsDto extends TimeLogFilterDto {
  @Omittable()
  @Rule(groupingFault)
  by?: Grouping;

  @Rule(pageNumberFault)
  page = String(DEFAULT_PAGE.number);

  @Rule(pageLimitFault)
  limit = String(DEFAULT_PAGE.limit);
}
