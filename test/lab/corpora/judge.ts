import type { Answer } from '../../support/raw-http.js';
import type { Exchange } from './exchange.js';
import type { Expectation } from './inputs.js';

/** The answers that a request alone can bring about. */
const CODES: Readonly<Record<number, string>> = {
  400: 'VALIDATION_ERROR',
  401: 'UNAUTHORIZED',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'REQUEST_TIMEOUT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  417: 'EXPECTATION_FAILED',
  431: 'HEADERS_TOO_LARGE',
};

/** The status of an error's code; 500 for those that no request alone can bring about. */
export function statusOf(code: string): number {
  const found = Object.entries(CODES).find(([, known]) => known === code);
  return found ? Number(found[0]) : 500;
}

/** What is wrong with what became of an input; undefined where it is what must be. */
export function faultOf(expected: Expectation, { answers, isHung }: Exchange): string | undefined {
  const [answer] = answers;
  const statuses = `answered ${answers.map(({ status }) => status).join() || 'nothing'}`;
  const broken = answers.find((one) => !isOfContract(one));
  if (broken) return `${statuses}: not as the contract has it: ${broken.text.slice(0, 200)}`;
  if (isHung) return `hangs, ${statuses}`;
  if (expected.kind === 'raw') return expected.isMalformed && isServed(answers) ? statuses : undefined;
  if (!answer || answers.length > 1) return statuses;
  switch (expected.kind) {
    case 'stored':
      return answer.status === 201 && holds(dataOf(answer), expected.values)
        ? undefined
        : `${statuses}, where it must be stored: ${answer.text.slice(0, 200)}`;
    case 'refused':
      return expected.statuses.includes(answer.status) && (expected.message ?? /./).test(messageOf(answer))
        ? undefined
        : `${statuses}, where it must be ${expected.statuses.join(' or ')}: ${answer.text.slice(0, 200)}`;
    case 'served':
      if (answer.status !== 200) return `${statuses}, where it must be served`;
      return [undefined, answer.headers.get('x-request-id')].includes(expected.requestId)
        ? undefined
        : 'the request id was changed';
  }
}

/** Whether any of several answers says that something malformed was taken for a request of worth. */
function isServed(answers: readonly Answer[]): boolean {
  return (
    answers.some(({ status }) => status < 400) || ![400, 401, undefined].includes(answers.at(-1)?.status)
  );
}

/** The members of the log in an answer. */
export function dataOf({ body }: Answer): Readonly<Record<string, unknown>> {
  return (body as { data: Readonly<Record<string, unknown>> }).data;
}

/** The answer to an input as far as it must be the same under every time zone. */
export function verdictOf({ answers, isHung }: Exchange): string {
  const told = answers.map((answer) => `${answer.status} ${answer.status < 400 ? '' : messageOf(answer)}`);
  return `${told.join(', ')}${isHung ? ' hangs' : ''}`;
}

function holds(data: Readonly<Record<string, unknown>>, values: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(values).every(([name, value]) => data[name] === value);
}

function messageOf({ body }: Answer): string {
  return (body as { message: string }).message;
}

/** No status but those of the contract, and with each error exactly its body. */
function isOfContract({ status, headers, body }: Answer): boolean {
  if (status === 200 || status === 201) return true;
  if (headers.get('content-type') !== 'application/json; charset=utf-8') return false;
  const { success, error, message, ...rest } = Object(body) as Record<string, unknown>;
  const isWhole = typeof message === 'string' && Object.keys(rest).length === 0;
  return success === false && error !== undefined && error === CODES[status] && isWhole;
}
