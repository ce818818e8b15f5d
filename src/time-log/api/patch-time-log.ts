import { rulesOf } from '../../../libs/request-state/src/index.js';
import { validateBody, isJsonObject } from '../../../libs/strict-request/src/index.js';
import { normalizedValues, type TimeLog, type TimeLogValues, VALUE_NAMES } from '../domain/time-log.js';
import { correctionRulesOf, TimeLogDto, valuesOf } from './time-log.dto.js';

/**
 * Returns the values of a log after the patch of a request, checked like a body. Attributes are checked only if the
 * patch has some. Throws DomainError VALIDATION_ERROR.
 */
export async function patchedValues(log: TimeLog, patch: object, request: object): Promise<TimeLogValues> {
  const { attributes, ...values } = normalizedValues(log);
  const haveAttributes = rulesOf(request).addedMember !== undefined;
  // The log has no such values, so `{"id": null}` would remove nothing and pass: they are put back, and checked.
  const notValues = Object.entries(patch).filter(
    ([name]) =>
      !(VALUE_NAMES as readonly string[]).includes(name) || (name === 'attributes' && !haveAttributes),
  );
  const merged = (target: object) => ({
    ...(mergePatch(target, patch) as object),
    ...Object.fromEntries(notValues),
  });
  const rules = correctionRulesOf(log.id);
  if (Object.hasOwn(patch, 'attributes')) {
    const body = merged({ ...values, ...(attributes && { attributes }) });
    return valuesOf(await validateBody(request, TimeLogDto, body, { ...rules, keepsAdded: false }));
  }
  return { ...valuesOf(await validateBody(request, TimeLogDto, merged(values), rules)), attributes };
}

/** Returns the result of a JSON Merge Patch (RFC 7396, section 2). */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const merged = new Map<string, unknown>(isJsonObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}
