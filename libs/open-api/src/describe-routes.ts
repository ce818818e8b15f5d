import { SetMetadata, type Type } from '@nestjs/common';
import { type Operation, SCHEMA_REF_PREFIX, type Schemas } from './open-api-3-0.js';

/*
 * These functions write the metadata of @nestjs/swagger's decorators without that package: a host
 * may not have it, and loading it would add a fifth to the files of a start.
 */

const SECURITY_KEY = 'swagger/apiSecurity';

/** Declares the security requirement of a route or a controller (OpenAPI 3.0). */
export const SecurityRequirement = (requirement: Readonly<Record<string, readonly string[]>>) =>
  SetMetadata(SECURITY_KEY, [requirement]);

/**
 * Describes the routes of one instance of a controller, since another instance may belong to
 * another module. `operations` has the names of the methods. Nest and @nestjs/swagger look for
 * routes in the prototypes of the instance and use the first one of a name.
 */
export function describeRoutes(
  controller: object,
  operations: Readonly<Record<string, Operation>>,
  schemas: Schemas,
): void {
  const inherited = Object.getPrototypeOf(controller) as object;
  const prototype = Object.create(inherited) as object;
  for (const [name, operation] of Object.entries(operations)) {
    const method = Reflect.get(inherited, name) as (...input: unknown[]) => unknown;
    const described = {
      [name](this: unknown, ...input: unknown[]): unknown {
        return method.apply(this, input);
      },
    }[name]!;
    for (const key of Reflect.getMetadataKeys(method))
      Reflect.defineMetadata(key, Reflect.getMetadata(key, method), described);
    for (const [key, value] of Object.entries(metadataOf(operation, schemas)))
      Reflect.defineMetadata(key, value, described);
    Object.defineProperty(prototype, name, { value: described });
  }
  Object.setPrototypeOf(controller, prototype);
}

function metadataOf(operation: Operation, schemas: Schemas) {
  const { parameters, requestBody, responses, security, ...texts } = operation;
  return {
    'swagger/apiOperation': texts,
    'swagger/apiParameters': [...parameters, ...(requestBody ? [bodyParameter(requestBody)] : [])],
    ...(requestBody && { 'swagger/apiConsumes': Object.keys(requestBody.content) }),
    'swagger/apiResponse': responses,
    'swagger/apiExtraModels': schemaNamesIn(operation, schemas).map((name) =>
      modelClass(name, schemas[name]!),
    ),
    [SECURITY_KEY]: security,
  };
}

/** Returns a body in the form of @nestjs/swagger, which has schema and examples as own members. */
function bodyParameter({ content, ...body }: NonNullable<Operation['requestBody']>) {
  return { in: 'body', type: String, ...body, ...content['application/json'] };
}

/** Returns the names of the schemas that an operation refers to, directly or indirectly. */
function schemaNamesIn(operation: Operation, schemas: Schemas): string[] {
  const referencesIn = (part: unknown) =>
    JSON.stringify(part)
      .split(`"${SCHEMA_REF_PREFIX}`)
      .slice(1)
      .map((text) => text.split('"')[0]!);
  const names = new Set(referencesIn(operation));
  // The loop also visits the names that it adds.
  for (const name of names) for (const inner of referencesIn(schemas[name])) names.add(inner);
  return [...names];
}

/** Returns a class from which @nestjs/swagger makes exactly this schema. */
function modelClass(name: string, schema: object): Type {
  const model = { [name]: class {} }[name]!;
  const metadata = [{ name, type: undefined, properties: undefined, ...schema }];
  Reflect.defineMetadata('swagger/apiSchema', metadata, model);
  return model;
}

/** Describes the properties of a DTO. A host's class inherits them, also through PartialType. */
export function describeProperties(
  dto: Type,
  properties: Readonly<Record<string, object>>,
  required: readonly string[] = [],
): void {
  const { prototype } = dto as { readonly prototype: object };
  const names = Object.keys(properties).map((name) => `:${name}`);
  Reflect.defineMetadata('swagger/apiModelPropertiesArray', names, prototype);
  for (const [name, property] of Object.entries(properties)) {
    const metadata = { ...property, required: required.includes(name) };
    Reflect.defineMetadata('swagger/apiModelProperties', metadata, prototype, name);
  }
}
