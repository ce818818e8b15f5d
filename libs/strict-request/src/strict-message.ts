import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import { DomainError } from '../../errors/src/index.js';
import { DEPTH_LIMIT, isDeeperThan } from './json-body.js';
import { validated } from './validated.js';

/** What a message holds: members of its own, and one object among them that a DTO of its own decides. */
export interface MessageShape {
  /** Decides all members. What is wrong with `part` as such is for it to tell, too. */
  readonly message: Type<object>;
  /** The name of the member that is the object. */
  readonly part: string;
  readonly dto: Type<object>;
  /** Whether it may be left out, which counts as an empty one. */
  readonly isOptional?: boolean;
  /** Brings the object into the form that the DTO takes. */
  readonly prepare?: (part: object) => object;
}

/** The data of a message as a validated instance of its class, its part as one of the DTO; with the faults of both in one error. */
export const StrictMessage = createParamDecorator(
  (
    { message, part, dto, isOptional = false, prepare = (given) => given }: MessageShape,
    context: ExecutionContext,
  ) => {
    const data: Record<string, unknown> = context.switchToRpc().getData();
    const given = data[part] === undefined && isOptional ? {} : data[part];
    const faults: DomainError[] = [];
    const collect = <T>(validate: () => T): T | undefined => {
      try {
        return validate();
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        faults.push(error);
        return undefined;
      }
    };
    const values =
      typeof given === 'object' && given !== null && !Array.isArray(given)
        ? collect(() => validated(dto, prepare(given), { member: 'field' }))
        : undefined;
    const whole = collect(() => validated(message, data, { member: 'field' }));
    if (faults.length > 0) {
      throw new DomainError('VALIDATION_ERROR', faults.map(({ message }) => message).join('; '), {
        logged: faults.map(({ logged }) => logged).join('; '),
      });
    }
    return Object.assign(whole!, { [part]: values });
  },
);

/** Throws DomainError PAYLOAD_TOO_LARGE or VALIDATION_ERROR for a message over the bounds of a request. */
export function requireBoundedMessage(data: object, bytes: number): void {
  // Its parts have the depth of a body, and one level is that of the message itself.
  if (isDeeperThan(DEPTH_LIMIT + 1, data)) {
    throw new DomainError(
      'VALIDATION_ERROR',
      `the message must not be nested deeper than ${DEPTH_LIMIT + 1} levels`,
    );
  }
  if (Buffer.byteLength(JSON.stringify(data)) > bytes) {
    throw new DomainError('PAYLOAD_TOO_LARGE', `the message must be at most ${bytes} bytes of JSON`);
  }
}
