import type { FuncKeywordDefinition } from 'ajv';
import { _, type Ajv2020 } from 'ajv/dist/2020.js';
import { canonicalJson } from '../../time-log/index.js';
import { isMultipleOf } from '../json.js';

/**
 * Replaces the keywords of ajv 8.20 that compare values: its multipleOf divides as doubles (0.3 is no multiple of 0.1),
 * and the others call a member `valueOf` or `toString` of an object that was sent.
 */
export function addExactKeywords(ajv: Ajv2020): void {
  const add = (definition: FuncKeywordDefinition & { readonly keyword: string }) => {
    ajv.removeKeyword(definition.keyword);
    ajv.addKeyword({ ...definition, errors: false });
  };
  add({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    error: { message: 'must be a multiple', params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}` },
    compile: (divisor: number) => (value: number) => isMultipleOf(value, divisor),
  });
  add({
    keyword: 'const',
    error: { message: 'must be equal', params: ({ schemaCode }) => _`{allowedValue: ${schemaCode}}` },
    compile: (allowed: unknown) => (value: unknown) => canonicalJson(value) === canonicalJson(allowed),
  });
  add({
    keyword: 'enum',
    schemaType: 'array',
    error: { message: 'must be equal to one', params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}` },
    compile: (allowed: readonly unknown[]) => {
      const texts = new Set(allowed.map(canonicalJson));
      return (value: unknown) => texts.has(canonicalJson(value));
    },
  });
  add({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not have equal items' },
    compile: (isRequired: boolean) => (items: readonly unknown[]) =>
      !isRequired || new Set(items.map(canonicalJson)).size === items.length,
  });
}
