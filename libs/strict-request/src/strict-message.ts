import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import { DomainError, validationError } from '../../errors/src/index.js';
import { MAX_JSON_DEPTH, isDeeperThan, isJsonObject } from './strict-body.js';
import { rulesOf, stateOf } from '../../request-state/src/index.js';
import {
  addValue,
  allFaultsOf,
  faultsIn,
  FIELD,
  tryValidate,
  type ValidatedObject,
  validateObject,
} from './validate.js';

/** The form of a message: its members, one of which is an object or a query with a DTO of its own. */
export interface MessageShape {
  /** The DTO of all members, which also checks that `part` is an object. */
  readonly message: Type<object>;
  /** The name of this member. */
  readonly part: string;
  /** Its DTO. */
  readonly dto: Type<object>;
  /** Whether it is a query. A missing one is empty. */
  readonly isQuery?: boolean;
}

/** Injects the validated data of a message with its validated part. Throws one error for both. */
export const StrictMessage: (shape: MessageShape) => ParameterDecorator = createParamDecorator(
  async ({ message, part, dto, isQuery = false }: MessageShape, context: ExecutionContext) => {
    const data: Record<string, unknown> = context.switchToRpc().getData();
    const value = data[part] === undefined && isQuery ? {} : data[part];
    const { addedMember } = rulesOf(data);
    const validatePart = (input: object): ValidatedObject<object> =>
      isQuery ? tryValidate(addedMember?.extend(dto) ?? dto, input, FIELD) : validateObject(data, dto, input);
    const inner = isJsonObject(value) ? validatePart(value) : undefined;
    const outer = tryValidate(message, data, FIELD);
    const unknown = [...(inner?.unknown ?? []), ...outer.unknown];
    if (outer.faults.length + unknown.length > 0 || (inner && inner.faults.length > 0)) {
      const faults = [...(inner ? await allFaultsOf(inner) : []), ...outer.faults];
      throw validationError(faultsIn({ faults, unknown }, FIELD));
    }
    if (isQuery && inner && addedMember)
      addValue(inner.instance, addedMember.name, addedMember.valueIn(inner.instance));
    return Object.assign(outer.instance, { [part]: inner?.instance });
  },
);

/** Injects a function that returns the state of a message, since a host's pipe may change objects. */
export const MessageState: () => ParameterDecorator = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => () => stateOf(context.switchToRpc().getData<object>()),
);

/** Throws DomainError PAYLOAD_TOO_LARGE or VALIDATION_ERROR if a message exceeds a limit. */
export function requireBoundedMessage(data: object, maxBytes: number): void {
  // The message itself is one level. Its parts may have as many levels as a body.
  if (isDeeperThan(MAX_JSON_DEPTH + 1, data))
    throw new DomainError(
      'VALIDATION_ERROR',
      `the message must not be nested deeper than ${MAX_JSON_DEPTH + 1} levels`,
    );
  if (Buffer.byteLength(JSON.stringify(data)) > maxBytes) throw messageTooLarge(maxBytes);
}

export function messageTooLarge(maxBytes: number): DomainError {
  return new DomainError('PAYLOAD_TOO_LARGE', `the message must be at most ${maxBytes} bytes of JSON`);
}
