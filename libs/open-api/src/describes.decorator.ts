import { applyDecorators, SetMetadata, type Type } from '@nestjs/common';
import { MetadataScanner } from '@nestjs/core';
import { withReferences } from './named-schemas.js';
import type { OperationObject, ParameterObject, RequestBodyObject, Responses } from './open-api.js';

/**
 * An operation in terms of OpenAPI 3.0, without what the route itself says: path, method and scopes. It has no
 * references: those to its named schemas are made of their titles.
 */
export interface Operation extends Pick<OperationObject, 'summary' | 'description'> {
  readonly operationId: string;
  readonly tags: string[];
  readonly parameters?: readonly ParameterObject[];
  /** JSON. */
  readonly requestBody?: RequestBodyObject;
  readonly responses: Responses;
}

/** The Operation by which a route is described, for whoever describes it anew. */
const OPERATION = 'time-logs.operation';
const SECURITY = 'swagger/apiSecurity';

/**
 * Describes a route in the document that @nestjs/swagger makes of any app. This and the decorators below it leave what
 * the decorators of @nestjs/swagger would, where it looks for that. To call those would load all of it: a fifth of the
 * files of a start, which makes no document.
 */
export function Describes(described: Operation): MethodDecorator {
  const models = new Map<string, Type>();
  const { parameters = [], requestBody, responses, ...operation } = withReferences(described, models);
  return applyDecorators(
    SetMetadata(OPERATION, described),
    SetMetadata('swagger/apiOperation', { summary: '', ...operation }),
    SetMetadata('swagger/apiParameters', [
      ...parameters.map(({ name, ...rest }) => ({ name, required: rest.in === 'path', ...rest })),
      ...(requestBody ? [bodyOf(requestBody)] : []),
    ]),
    SetMetadata('swagger/apiResponse', responses),
    SetMetadata('swagger/apiExtraModels', [...models.values()]),
  );
}

/** Schema and examples stand beside the rest of the body. */
function bodyOf({ content, ...body }: RequestBodyObject) {
  return { in: 'body', type: String, required: true, ...body, ...content['application/json'] };
}

/** Says that a route or a controller asks for one of these (OpenAPI 3.0, security requirement object). */
export const DescribesSecurity = (requirement: Readonly<Record<string, readonly string[]>>) =>
  SetMetadata(SECURITY, [requirement]);

/** How the document of a host differs from what the decorators say. */
export interface OtherDescription {
  readonly change: (operation: Operation) => Operation;
  /** The name of its security scheme. */
  readonly securityScheme: string;
}

/**
 * Describes the routes of one instance of a controller otherwise: another one of the same class may belong to another
 * module. Nest, and @nestjs/swagger, look for routes in the prototype of the instance, and take what comes first there.
 */
export function describeAnew(controller: object, { change, securityScheme }: OtherDescription): void {
  const before = Object.getPrototypeOf(controller) as object;
  const prototype = Object.create(before) as object;
  for (const name of new MetadataScanner().getAllMethodNames(before)) {
    const route = Reflect.get(before, name) as ((...given: unknown[]) => unknown) | undefined;
    if (route === undefined || !Reflect.hasMetadata(OPERATION, route)) continue;
    const operation = Reflect.getMetadata(OPERATION, route) as Operation;
    const same = {
      [name](this: unknown, ...given: unknown[]): unknown {
        return route.apply(this, given);
      },
    }[name]!;
    for (const key of Reflect.getMetadataKeys(route))
      Reflect.defineMetadata(key, Reflect.getMetadata(key, route), same);
    Object.defineProperty(prototype, name, { value: same });
    Describes(change(operation))(prototype, name, { value: same });
    const asked = (Reflect.getMetadata(SECURITY, same) ?? []) as readonly object[];
    SetMetadata(
      SECURITY,
      asked.map((one) => Object.fromEntries(Object.values(one).map((scopes) => [securityScheme, scopes]))),
    )(prototype, name, { value: same });
  }
  Object.setPrototypeOf(controller, prototype);
}

/** Describes the members of a DTO, so that a class of a host which extends it shows them, and PartialType too. */
export function describeMembers(
  dto: Type,
  members: Readonly<Record<string, object>>,
  required: readonly string[] = [],
): void {
  const { prototype } = dto as { readonly prototype: object };
  Reflect.defineMetadata(
    'swagger/apiModelPropertiesArray',
    Object.keys(members).map((name) => `:${name}`),
    prototype,
  );
  for (const [name, member] of Object.entries(members)) {
    Reflect.defineMetadata(
      'swagger/apiModelProperties',
      { ...member, required: required.includes(name) },
      prototype,
      name,
    );
  }
}

/** Leaves a route out of documents. */
export const NotDescribed = () => SetMetadata('swagger/apiExcludeEndpoint', { disable: true });

/** Leaves all routes of a controller out of documents. */
export const NoneDescribed = () => SetMetadata('swagger/apiExcludeController', [true]);
