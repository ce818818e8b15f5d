import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import { DomainError } from '../../errors/src/index.js';
import { checkWithMember } from './further-member.js';
import { DEPTH_LIMIT, isDeeperThan, isJsonObject } from './json-body.js';
import { check, type Naming, requireFaultless } from './validated.js';

const FIELD: Naming = { member: 'field' };

/** What a message holds: its own members, one of which is an object that has a DTO of its own. */
export interface MessageShape {
  /** The DTO of all members. It also says what is wrong with `part` itself. */
  readonly message: Type<object>;
  /** The name of the member that is the object. */
  readonly part: string;
  readonly dto: Type<object>;
  /** Whether the object may be left out; then it counts as empty. */
  readonly isOptional?: boolean;
  /** Turns the object into the form that its DTO takes. */
  readonly prepare?: (part: object) => object;
}

/** The validated data of a message, and its validated part. Throws one error with the faults of both. */
export const StrictMessage: (shape: MessageShape) => ParameterDecorator = createParamDecorator(
  async (
    { message, part, dto, isOptional = false, prepare = (given) => given }: MessageShape,
    context: ExecutionContext,
  ) => {
    const data: Record<string, unknown> = context.switchToRpc().getData();
    const given = data[part] === undefined && isOptional ? {} : data[part];
    const inner = isJsonObject(given) ? await checkWithMember(data, dto, prepare(given), FIELD) : undefined;
    const outer = check(message, data, FIELD);
    requireFaultless(
      {
        faults: [...(inner?.faults ?? []), ...outer.faults],
        logged: [...(inner?.logged ?? []), ...outer.logged],
        unknown: [...(inner?.unknown ?? []), ...outer.unknown],
      },
      FIELD,
    );
    return Object.assign(outer.instance, { [part]: inner?.instance });
  },
);

/**
 * Returns a function that returns the data of the message, to which its state belongs. A pipe of a host may rebuild the
 * data, but not a function.
 */
export const MessageData: () => ParameterDecorator = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => () => context.switchToRpc().getData<object>(),
);

/** Throws DomainError PAYLOAD_TOO_LARGE or VALIDATION_ERROR for a message over the bounds of a request. */
export function requireBoundedMessage(data: object, bytes: number): void {
  // The message itself is one level; its parts may be as deep as a body.
  if (isDeeperThan(DEPTH_LIMIT + 1, data)) {
    throw new DomainError(
      'VALIDATION_ERROR',
      `the message must not be nested deeper than ${DEPTH_LIMIT + 1} levels`,
    );
  }
  if (Buffer.byteLength(JSON.stringify(data)) > bytes) throw messageTooLarge(bytes);
}

/** The error of a message with more bytes than these. */
export function messageTooLarge(bytes: number): DomainError {
  return new DomainError('PAYLOAD_TOO_LARGE', `the message must be at most ${bytes} bytes of JSON`);
}
