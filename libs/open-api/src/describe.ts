import { SetMetadata, type Type } from '@nestjs/common';
import { type Operation, SCHEMAS, type Schemas } from './open-api-3-0.js';

/*
 * These functions write the metadata of the decorators of @nestjs/swagger, which a host need not have. Loading that
 * package would add a fifth to the files of a start.
 */

const SECURITY = 'swagger/apiSecurity';

/** Declares the security requirement of a route or a controller (OpenAPI 3.0, security requirement object). */
export const DescribesSecurity = (requirement: Readonly<Record<string, readonly string[]>>) =>
  SetMetadata(SECURITY, [requirement]);

/**
 * Describes routes of one instance of a controller, by the names of their methods: another instance may belong to
 * another module. Nest and @nestjs/swagger look for routes in the prototype of the instance and take the first of a name.
 */
export function describeRoutes(
  controller: object,
  operations: Readonly<Record<string, Operation>>,
  schemas: Schemas,
): void {
  const inherited = Object.getPrototypeOf(controller) as object;
  const prototype = Object.create(inherited) as object;
  for (const [name, operation] of Object.entries(operations)) {
    const route = Reflect.get(inherited, name) as (...input: unknown[]) => unknown;
    const described = {
      [name](this: unknown, ...input: unknown[]): unknown {
        return route.apply(this, input);
      },
    }[name]!;
    for (const key of Reflect.getMetadataKeys(route))
      Reflect.defineMetadata(key, Reflect.getMetadata(key, route), described);
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
    'swagger/apiParameters': [...parameters, ...(requestBody ? [bodyOf(requestBody)] : [])],
    'swagger/apiResponse': responses,
    'swagger/apiExtraModels': namesIn(operation, schemas).map((name) => modelOf(name, schemas[name]!)),
    [SECURITY]: security,
  };
}

/** Schema and examples are members of the body itself. */
function bodyOf({ content, ...body }: NonNullable<Operation['requestBody']>) {
  return { in: 'body', type: String, ...body, ...content['application/json'] };
}

/** Returns the names of the schemas that an operation refers to, directly or through another schema. */
function namesIn(operation: Operation, schemas: Schemas): string[] {
  const direct = (part: unknown) =>
    JSON.stringify(part)
      .split(`"${SCHEMAS}`)
      .slice(1)
      .map((text) => text.split('"')[0]!);
  const names = new Set(direct(operation));
  // The loop also visits what it adds.
  for (const name of names) for (const inner of direct(schemas[name])) names.add(inner);
  return [...names];
}

/** Returns a class of which @nestjs/swagger makes this schema, without what it assumes of classes. */
function modelOf(name: string, schema: object): Type {
  const model = { [name]: class {} }[name]!;
  const metadata = [{ name, type: undefined, properties: undefined, ...schema }];
  Reflect.defineMetadata('swagger/apiSchema', metadata, model);
  return model;
}

/** Describes the members of a DTO, so that a class of a host which extends it shows them, and PartialType too. */
export function describeMembers(
  dto: Type,
  members: Readonly<Record<string, object>>,
  required: readonly string[] = [],
): void {
  const { prototype } = dto as { readonly prototype: object };
  const names = Object.keys(members).map((name) => `:${name}`);
  Reflect.defineMetadata('swagger/apiModelPropertiesArray', names, prototype);
  for (const [name, member] of Object.entries(members)) {
    const metadata = { ...member, required: required.includes(name) };
    Reflect.defineMetadata('swagger/apiModelProperties', metadata, prototype, name);
  }
}
