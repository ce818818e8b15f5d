/* Without it the document is written by hand beside the routes, and they part. */

export {
  describeAnew,
  describeMembers,
  Describes,
  DescribesSecurity,
  NoneDescribed,
  NotDescribed,
  type Operation,
} from './describes.decorator.js';
export type {
  Headers,
  OperationObject,
  ParameterObject,
  RequestBodyObject,
  ResponseObject,
  Responses,
  SchemaObject,
  TagObject,
} from './open-api.js';
export { openApi31, type OpenApiDocument } from './open-api-3-1.js';
export { withExamples } from './schema-3-1.js';
export { phraseOf } from './shared-errors.js';
