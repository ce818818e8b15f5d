import { type FactoryProvider, Logger, type Provider } from '@nestjs/common';
import { ADDED_MEMBER } from '../../libs/request-state/src/index.js';
import { MAX_JSON_DEPTH } from '../../libs/strict-request/src/index.js';
import { limitsOf, TIME_LOG_OPTIONS, AttributeRules, type TimeLogOptions } from '../time-log/index.js';
import { addedAttributes } from './attribute-filters.js';
import { type AttributesDefinition, SchemaAttributeRules } from './schema-attribute-rules.js';

/** A factory of a definition; undefined: logs have no attributes. */
interface DefinitionFactory<Injected extends unknown[]> {
  readonly inject?: FactoryProvider['inject'];
  readonly useFactory: (...injected: Injected) => AttributesDefinition | undefined;
}

/** Returns the providers that give logs attributes, in requests, in messages and in the code of a host. */
export function attributeProviders<Injected extends unknown[]>({
  inject = [],
  useFactory,
}: DefinitionFactory<Injected>): Provider[] {
  return [
    {
      provide: AttributeRules,
      inject: [TIME_LOG_OPTIONS, ...inject],
      useFactory: ({ limits }: TimeLogOptions, ...injected: Injected) => {
        const definition = useFactory(...injected);
        if (definition === undefined) return new AttributeRules();
        // The body around them is one level.
        const bounds = { depth: MAX_JSON_DEPTH - 1, bytes: limitsOf(limits).bodyLimit };
        const logger = new Logger(AttributeRules.name);
        const { schema, filters } = definition;
        return new SchemaAttributeRules(schema, bounds, (fault) => logger.error(fault), filters);
      },
    },
    {
      provide: ADDED_MEMBER,
      inject: [AttributeRules],
      useFactory: (rules: AttributeRules) => (rules.haveAttributes ? addedAttributes(rules) : undefined),
    },
  ];
}
