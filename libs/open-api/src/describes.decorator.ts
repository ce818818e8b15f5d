import { applyDecorators, SetMetadata } from '@nestjs/common';
import type { OperationObject, ParameterObject, RequestBodyObject, Responses } from './open-api.js';

/**
 * An operation in terms of OpenAPI 3.0, without what the route itself says: path, method and scopes. It has no
 * references, since the document of a host has no components of ours.
 */
export interface Operation extends Pick<OperationObject, 'summary' | 'description'> {
  readonly operationId: string;
  readonly tags: string[];
  readonly parameters?: readonly ParameterObject[];
  /** JSON. */
  readonly requestBody?: RequestBodyObject;
  readonly responses: Responses;
}

/**
 * Describes a route in the document that @nestjs/swagger makes of any app. This and the decorators below it leave what
 * the decorators of @nestjs/swagger would, where it looks for that. To call those would load all of it: a fifth of the
 * files of a start, which makes no document.
 */
export function Describes({
  parameters = [],
  requestBody,
  responses,
  ...operation
}: Operation): MethodDecorator {
  return applyDecorators(
    SetMetadata('swagger/apiOperation', { summary: '', ...operation }),
    SetMetadata('swagger/apiParameters', [
      ...parameters.map(({ name, ...rest }) => ({ name, required: rest.in === 'path', ...rest })),
      ...(requestBody ? [bodyOf(requestBody)] : []),
    ]),
    SetMetadata('swagger/apiResponse', responses),
  );
}

/** Schema and examples stand beside the rest of the body. */
function bodyOf({ content, ...body }: RequestBodyObject) {
  return { in: 'body', type: String, required: true, ...body, ...content['application/json'] };
}

/** Says that a route or a controller asks for one of these (OpenAPI 3.0, security requirement object). */
export const DescribesSecurity = (requirement: Readonly<Record<string, readonly string[]>>) =>
  SetMetadata('swagger/apiSecurity', [requirement]);

/** Leaves a route out of documents. */
export const NotDescribed = () => SetMetadata('swagger/apiExcludeEndpoint', { disable: true });

/** Leaves all routes of a controller out of documents. */
export const NoneDescribed = () => SetMetadata('swagger/apiExcludeController', [true]);
