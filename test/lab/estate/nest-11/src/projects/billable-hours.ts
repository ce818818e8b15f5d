import { Injectable } from '@nestjs/common';
import { TimeLogService } from 'time-logs/time-log';
import type { OurAttributes } from '../time-logs/attributes';

/** The billable hours of each ticket, for the invoices of each night. */
@Injectable()
export class BillableHours {
  constructor(private readonly timeLogs: TimeLogService<OurAttributes>) {}

  async of(projectId: string): Promise<Map<string, number>> {
    const hours = new Map<string, number>();
    for await (const { duration, attributes } of this.timeLogs.iterate({ projectIds: [projectId] })) {
      if (!attributes?.billable) continue;
      const ticket = attributes.ticket ?? 'none';
      hours.set(ticket, (hours.get(ticket) ?? 0) + duration);
    }
    return hours;
  }
}
