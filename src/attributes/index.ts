/* Without it, the attributes of logs have no schema, and nobody can filter by them or be bound to them. */

export { parseAttribute } from './attribute-filters.js';
export { attributeProviders } from './attribute-providers.js';
export { hostFilters } from './schema-filters.js';
export { frozenCopy, jsonFault } from './json.js';
export type {
  AttributesDefinition,
  AttributesOf,
  AttributesSchema,
  SentAttributesOf,
} from './schema-attribute-rules.js';
export { describeAttributes } from './service-document.js';
