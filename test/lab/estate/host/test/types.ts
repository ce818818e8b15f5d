import type {
  SentAttributesOf,
  TimeLogChange,
  TimeLogService,
  WrittenTimeLogChange,
} from 'time-logs/time-log';
import type { attributes, OurAttributes } from '../src/time-logs/attributes.js';

/* The types of our attributes and of changes: `npx tsc --noEmit` checks them. */

/** Would not compile if there were another kind of change. */
export function textOf(change: WrittenTimeLogChange<OurAttributes>): string {
  switch (change.kind) {
    case 'record':
      return change.values.attributes?.ticket ?? change.log.id;
    case 'correct':
      return `${change.previous.duration} ${change.values.duration}`;
    case 'delete':
      return change.previous.attributes?.enteredBy ?? change.id;
  }
}

type OurTimeLogs = TimeLogService<OurAttributes, SentAttributesOf<typeof attributes>>;

export async function refused(timeLogs: OurTimeLogs, change: TimeLogChange<OurAttributes>) {
  const log = await timeLogs.get('01900000-0000-7000-8000-000000000000');
  // The schema adds what is missing.
  await timeLogs.record({ ...log, attributes: { ticket: 'OPS-1' } });
  // @ts-expect-error: a ticket is a text.
  await timeLogs.record({ ...log, attributes: { billable: true, ticket: 1 } });
  // @ts-expect-error: logs have no such attribute.
  log.attributes?.tikcet;
  // @ts-expect-error: a deletion has no values.
  change.values.attributes;
  // @ts-expect-error: there is no log before the change is made.
  change.log.id;
}
