import { createHash } from 'node:crypto';

/** The logs of one size, which every program has in its database. */
export interface DataSet {
  readonly size: number;
  /** Logs of the largest project in YEARS. */
  readonly totalOfProjectInYears: number;
  /** The ids of events of the service: half of all come after the one, and a page of PAGE after the other. */
  readonly events: { readonly middle: string; readonly last: string };
}

/** Logs or events of a page. */
export const PAGE = 50;
export const PROJECTS = 1_000;
/** About a hundred days, both ends included. */
export const PERIOD = { from: '2020-03-01', to: '2020-06-08' };
/** Long enough for full pages of the largest project, also at 10k logs. */
export const YEARS = { from: '2018-01-01', to: '2020-12-31' };
/** Seeded logs were created in these ten years; what a load creates comes after. Milliseconds since 1970. */
export const SEEDED = { from: Date.UTC(2016, 0, 1), until: Date.UTC(2026, 0, 1) };

/** The id of a project; number 1 is the largest. PROJECT_ID is the same in SQL. */
export function projectId(number: number): string {
  const hex = createHash('md5').update(`project ${number}`).digest('hex');
  const versioned = `${hex.slice(0, 12)}4${hex.slice(13, 16)}8${hex.slice(17)}`;
  return versioned.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const PROJECT_ID = `overlay(overlay(md5('project ' || project) placing '4' from 13) placing '8' from 17)::uuid`;

/** 10000 as 10k. */
export function sizeName(size: number): string {
  if (size % 1_000_000 === 0) return `${size / 1_000_000}m`;
  return size % 1_000 === 0 ? `${size / 1_000}k` : String(size);
}

/**
 * A query for the logs with the numbers $1 to $2, from 1: id, project_id, duration, description, date, created_at.
 * Each depends on its number alone, so that every database gets the same.
 */
export function logsQuery(size: number): string {
  const step = Math.floor((SEEDED.until - SEEDED.from) / size);
  return `
    select (lpad(to_hex(created), 12, '0') || '7' || substr(digest, 1, 3) || '8' || substr(digest, 4, 15))::uuid as id,
           ${PROJECT_ID} as project_id,
           round((1 + ${hash(4)} % 2400) / 100.0, 2) as duration,
           substr(digest || md5(digest) || md5(reverse(digest)), 1, 20 + (${hash(5)} % 61)::int) as description,
           (created_at at time zone 'UTC')::date - (${hash(3)} % 4)::int as date,
           created_at
      from generate_series($1::bigint, $2::bigint) n
     cross join lateral (
       select ${SEEDED.from} + (n - 1) * ${step} + ${hash(1)} % ${step} as created, md5(n::text) as digest, ${skewedProject()} as project
     ) facts
     cross join lateral (select timestamptz 'epoch' + created * interval '1 millisecond' as created_at) instant`;
}

/** A tenth of all for project 1; of the others each less than the one before. */
function skewedProject(): string {
  const evenly = `(${hash(2)} / 2147483648.0::float8)`;
  return `case when ${evenly} < 0.1 then 1 else 2 + floor(${PROJECTS - 1} * power((${evenly} - 0.1) / 0.9, 2))::bigint end`;
}

/** A number from 0 to 2^31-1 that looks random. */
function hash(salt: number): string {
  return `(hashint8extended(n, ${salt}) & 2147483647)`;
}
