import type { AttributesOf } from 'time-logs/time-log';
import { z } from 'zod';

/** The attributes of our logs: the ticket of the work, whether it is billable, and who has entered the log. */
export const attributes = z
  .strictObject({
    ticket: z
      .string()
      .regex(/^[A-Z]+-[0-9]+$/, 'must be a ticket, such as OPS-12')
      .optional(),
    billable: z.boolean().default(true),
    // Set by our hooks, whatever is sent.
    enteredBy: z.string().optional(),
  })
  .optional();

export type OurAttributes = AttributesOf<typeof attributes>;
