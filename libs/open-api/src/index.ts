/* Describes routes from an OpenAPI document, so that a host's API pages include them, and hides or finds routes. */

export { hideMethods, modulesProviding } from './nest-controllers.js';
export { describeProperties, describeRoutes, SecurityRequirement } from './describe-routes.js';
export {
  toOpenApi30,
  type Operation,
  type Operations,
  type ResponseObject,
  type SchemaObject,
  type Schemas,
} from './open-api-3-0.js';
