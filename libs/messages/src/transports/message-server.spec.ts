import { expect, it, jest } from '@jest/globals';
import { replyRule } from './message-server.js';

const LIMITS = { queue: 'q', bodyLimit: 1, maxInFlight: 1 };

it('allows replies to inboxes only, and logs the first other address', () => {
  const error = jest.fn();
  const mayReplyTo = replyRule('_INBOX.', { ...LIMITS, logger: { log: jest.fn(), error } });
  expect(['_INBOX.a.b', '', undefined].map(mayReplyTo)).toEqual([true, true, true]);
  expect(error).not.toHaveBeenCalled();
  const others = ['$JS.API.STREAM.PURGE.time-logs', 'time-log.created', '_INBOX', 'x._INBOX.a'];
  expect(others.map(mayReplyTo)).toEqual(others.map(() => false));
  expect(error.mock.calls).toEqual([['messages: a message was refused: its reply address must be _INBOX.*']]);
});

it('also allows replies to addresses that match the setting', () => {
  const error = jest.fn();
  const logger = { log: jest.fn(), error };
  const mayReplyTo = replyRule('_INBOX.', { ...LIMITS, replyQueues: 'replies.*', logger });
  expect(['_INBOX.a', 'replies.a', 'time-log.created'].map(mayReplyTo)).toEqual([true, true, false]);
  expect(error.mock.calls[0]).toEqual([expect.stringMatching(/must be _INBOX[.][*] or replies[.][*]$/)]);
});
