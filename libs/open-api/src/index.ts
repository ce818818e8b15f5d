/* Without it the pages of documentation of a host lack our routes, or each route is described a second time. */

export { describeMembers, describeRoutes, DescribesSecurity } from './describe.js';
export {
  openApi30,
  type Operation,
  type Operations,
  type ResponseObject,
  type SchemaObject,
  type Schemas,
} from './open-api-3-0.js';
