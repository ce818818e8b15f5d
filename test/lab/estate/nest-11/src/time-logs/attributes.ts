import { z } from 'zod';

/** What our logs have besides: the ticket that the work was for, and whether somebody pays for it. */
export const attributes = z
  .strictObject({
    ticket: z
      .string()
      .regex(/^[A-Z]+-[0-9]+$/, 'must be a ticket, such as OPS-12')
      .optional(),
    billable: z.boolean().default(true),
  })
  .optional();
