import { literal } from '../counts/count-rows.v1.js';
import type { FeedNames } from './feed-names.js';

// Parts of version 1 of the functions of the feed. See README.md.

/** The number of the transaction that writes a row, as PostgreSQL writes the expression itself. */
export const TRANSACTION = '((pg_current_xact_id())::text)::bigint';

/** By how much positions are ahead of the numbers of transactions: it stands in the default of the column. */
export const storedShift = ({ logs }: FeedNames) => `
  coalesce((select substring(pg_get_expr(adbin, adrelid) from '[+] ''(\\d+)''')::bigint
              from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
             where adrelid = ${literal(logs)}::regclass and attname = 'position'), 0)`;
