import { Omittable, Rule } from '../../../libs/strict-request/src/index.js';
import { type AttributeFilters, AttributeRules } from '../../time-log/domain/attribute-rules.js';
import { DEFAULT_PAGE, pageLimitFault, pageNumberFault } from '../../time-log/domain/time-log-query.js';
import { type Grouping, groupingFault } from '../domain/totals.js';
import { TimeLogFilterDto } from '../../time-log/api/list-time-logs.dto.js';

/** The query of totals, as text. Error messages follow the order of these fields. */
export class TotalTimeLogsDto extends TimeLogFilterDto {
  @Omittable()
  @Rule((value, { filters }: TotalTimeLogsDto) => groupingFault(value, filters))
  by?: Grouping;

  @Rule(pageNumberFault)
  page = String(DEFAULT_PAGE.number);

  @Rule(pageLimitFault)
  limit = String(DEFAULT_PAGE.limit);

  /** The attributes by which logs can be filtered, and so grouped. */
  get filters(): AttributeFilters {
    return NONE.filters;
  }
}

const NONE = new AttributeRules();
