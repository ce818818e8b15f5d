import type { DataSource } from 'typeorm';

/** A line for each thing in the schema `public`, in an order of its own; what only PostgreSQL 18 lists is left out. */
const LINES = `
  with tables as (
    select oid, relname, coalesce(' with (' || array_to_string(reloptions, ', ') || ')', '') as options
      from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'migrations'
  )
  select line from (
  select relname as name, 0 as kind, '' as part, 'table ' || relname || options as line from tables
  union all
  select relname, 1, lpad(attnum::text, 3),
         format('  %s %s%s%s%s%s', attname, format_type(atttypid, atttypmod), case when attnotnull then ' not null' end,
                ' default ' || pg_get_expr(adbin, adrelid), case when attidentity = 'd' then ' by default as identity' end,
                case when attstorage <> typstorage then ' storage ' || attstorage::text end)
    from tables join pg_attribute on attrelid = tables.oid join pg_type on pg_type.oid = atttypid
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
   where attnum > 0 and not attisdropped
  union all
  select relname, 2, conname, format('  %s %s', conname, pg_get_constraintdef(pg_constraint.oid))
    from tables join pg_constraint on conrelid = tables.oid where contype <> 'n'
  union all
  select relname, 3, indexrelid::regclass::text, '  ' || pg_get_indexdef(indexrelid)
    from tables join pg_index on indrelid = tables.oid
   where not exists (select from pg_constraint where conindid = indexrelid)
  union all
  select relname, 4, tgname, format('  %s (%s)', pg_get_triggerdef(pg_trigger.oid), tgenabled)
    from tables join pg_trigger on tgrelid = tables.oid where not tgisinternal
  union all
  select sequencename, 5, '', format('sequence %s %s from %s by %s', sequencename, data_type, start_value, increment_by)
    from pg_sequences where schemaname = 'public' and sequencename not like 'migrations%'
  union all
  select proname, 6, '', format('function %s(%s) returns %s, %s, volatility %s, parallel %s%s%s%s%s', proname,
           pg_get_function_identity_arguments(pg_proc.oid), pg_get_function_result(pg_proc.oid), lanname, provolatile, proparallel,
           case when proisstrict then ', strict' end, case when prosecdef then ', security definer' end, ', set ' || array_to_string(proconfig, ', '),
           case when not has_function_privilege('public', pg_proc.oid, 'execute') then ', not for public' end)
    from pg_proc join pg_language on pg_language.oid = prolang where pronamespace = 'public'::regnamespace
) things order by greatest(kind, 4), name collate "C", kind, part collate "C", line collate "C"`;

/** The tables, their triggers and the functions of a database, but for the bodies of functions, one line each. */
export async function schemaOf(dataSource: DataSource): Promise<string> {
  const rows = await dataSource.query<{ line: string }[]>(LINES);
  return rows.map(({ line }) => `${line}\n`).join('');
}

/** The functions of a database as PostgreSQL writes them. */
export async function functionsOf(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ text: string }[]>(
    `select pg_get_functiondef(oid) as text from pg_proc where pronamespace = 'public'::regnamespace order by 1`,
  );
  return rows.map(({ text }) => text);
}
