import {
  describeAnew,
  describeMembers,
  type Operation,
  type ParameterObject,
  type ResponseObject,
  type Responses,
} from '../../../libs/open-api/src/index.js';
import { withoutRateLimit } from '../../../libs/auth/src/index.js';
import type { AttributesSchema } from '../domain/attributes.js';
import { EVENT_SOURCE } from '../wire/cloud-event.js';
import { CreateTimeLogDto } from '../wire/create-time-log.dto.js';
import { ListTimeLogsDto } from '../wire/list-time-logs.dto.js';
import { TotalTimeLogsDto } from '../wire/total-time-logs.dto.js';
import { FILTER_PARAMETERS, pageParameters } from './time-log.documentation.js';
import { withAttributesForm } from './attributes-form.js';
import { BY_PARAMETER } from './time-log-totals.documentation.js';
import { NEW_TIME_LOG } from './time-log.schemas.js';

/** What the OpenAPI document of an app has to know of one module. */
export interface HostDocument {
  /** The name of its security scheme for our routes. */
  readonly securityScheme: string;
  /** Whether a limit of requests is set. */
  readonly hasRateLimit: boolean;
  /** Whether errors have the body that a filter of the host gives them. */
  readonly hasFilter: boolean;
  /** The source of events. */
  readonly source: string;
  /** The form of attributes; undefined: logs have none. */
  readonly attributes: AttributesSchema | undefined;
}

/** The HostDocument of a module. */
export const HOST_DOCUMENT = Symbol.for('time-logs.HOST_DOCUMENT');

/** What our decorators call the scheme. */
export const SECURITY_SCHEME = 'bearer';
const FIRST_ERROR = 400;

/** Describes the routes of one controller as they are in its app. */
export function describeIn(document: HostDocument, controller: object): void {
  const { securityScheme, hasRateLimit, hasFilter, source, attributes } = document;
  const isOurs = securityScheme === SECURITY_SCHEME && source === EVENT_SOURCE && attributes === undefined;
  if (isOurs && hasRateLimit && !hasFilter) return;
  describeAnew(controller, {
    securityScheme,
    change: (operation) => {
      const limited = hasRateLimit ? operation.responses : withoutRateLimit(operation.responses);
      const responses = hasFilter ? withoutErrorBodies(limited) : limited;
      const told = withSource({ ...operation, responses }, source);
      return attributes === undefined ? told : withAttributesForm(told, attributes);
    },
  });
}

function withoutErrorBodies(answers: Responses): Responses {
  const told = Object.entries(answers).map(([status, { content, ...answer }]: [string, ResponseObject]) => [
    status,
    Number(status) >= FIRST_ERROR || content === undefined ? answer : { ...answer, content },
  ]);
  return Object.fromEntries(told) as Responses;
}

function withSource(operation: Operation, source: string): Operation {
  return JSON.parse(JSON.stringify(operation), (_name, value: unknown) =>
    value === EVENT_SOURCE ? source : value,
  ) as Operation;
}

const membersOf = (parameters: readonly ParameterObject[]) =>
  Object.fromEntries(parameters.map(({ name, description, schema }) => [name, { ...schema, description }]));

// For documents of hosts that take our DTOs in routes of their own, or extend them.
describeMembers(CreateTimeLogDto, NEW_TIME_LOG.properties!, NEW_TIME_LOG.required);
describeMembers(ListTimeLogsDto, membersOf([...FILTER_PARAMETERS, ...pageParameters('logs')]));
describeMembers(
  TotalTimeLogsDto,
  membersOf([...FILTER_PARAMETERS, BY_PARAMETER, ...pageParameters('groups')]),
);
