import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type MemberVerdict, stateOf } from '../../../libs/strict-request/src/index.js';
import { type CheckedAttributes, TimeLogAttributes } from '../domain/attributes.js';
import { type CheckedValues, takeChecked, type TimeLogValues } from '../domain/time-log.js';
import { CreateTimeLogDto } from './create-time-log.dto.js';

/** Lets everybody pass. Where the host has a schema for them, a log that is sent may have attributes. */
@Injectable()
export class AttributesGuard implements CanActivate {
  constructor(private readonly attributes: TimeLogAttributes) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.attributes.areKnown) {
      const rule = (value: unknown) => this.attributes.check(value);
      stateOf(context.getArgByIndex<object>(0)).member = { dto: CreateTimeLogDto, name: 'attributes', rule };
    }
    return true;
  }
}

/** The values of a body, and its attributes as the schema has put them out while the body was checked. */
export function valuesOf(body: CreateTimeLogDto, verdict: MemberVerdict | undefined): CheckedValues {
  if (verdict === undefined) return takeChecked(body);
  const { input, output } = verdict as CheckedAttributes;
  return takeChecked({ ...(body as TimeLogValues), attributes: output }, input);
}
