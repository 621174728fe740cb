import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as v from 'valibot';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { logError, logWarning } from '../../lib/foundation/log.ts';
import { parse } from '../../lib/foundation/parse.ts';
import { attemptRows } from '../../lib/lists/unreadable-rows.ts';
import { listProperties, readStack } from '../../testing/stack-templates.ts';
import { matchesFilterPattern } from './filter-pattern.ts';

const filters = listProperties((await readStack('none')).joined, 'AWS::Logs::MetricFilter');

/** Returns the pattern of the filters whose metric has the suffix. It is the same for each function. */
function getPattern(suffix: string): string {
  const [pattern, ...others] = new Set(
    filters
      .filter(({ MetricTransformations: [metric] }) => metric.MetricName.endsWith(`-${suffix}`))
      .map(({ FilterPattern }) => FilterPattern as string),
  );
  if (pattern === undefined || others.length > 0) throw new Error(`The filters of ${suffix} have no common pattern.`);
  return pattern;
}
const logPatterns = ['Error', 'StoreUnavailable', 'NotificationDelayed', 'RowUnreadable', 'WebhookDead'].map(
  (kind) => [kind, getPattern(kind)] as const,
);
const throttlePattern = getPattern('Throttles');

let lines: string[];
beforeEach(() => {
  lines = [];
  jest.spyOn(console, 'error').mockImplementation((entry: unknown) => void lines.push(toLogLine('ERROR', entry)));
  jest.spyOn(console, 'warn').mockImplementation((entry: unknown) => void lines.push(toLogLine('WARN', entry)));
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Formats a line as Lambda's JSON log format does: one logged value becomes the field `message`. */
const toLogLine = (level: string, message: unknown): string =>
  JSON.stringify({ timestamp: '2026-11-21T10:00:00.000Z', level, requestId: '8f5…', message });

const listMatches = (line: string | undefined): string[] =>
  logPatterns.filter(([, pattern]) => matchesFilterPattern(pattern, line ?? '')).map(([kind]) => kind);

const outage = new ServiceError('ConnectionFailed', 'App Store is unavailable. Try again later.', {
  cause: new Error('socket hang up'),
});

describe('logPatterns', () => {
  it('counts an internal error whose stack trace mentions ConnectionFailed as an error', () => {
    const cause = new Error('cannot read the code of ConnectionFailed');
    logError({ endpoint: 'validate-receipt', app: 'demo', eventId: '1' }, ServiceError.fromUnknown(cause));
    expect(lines[0]).toContain('at ');
    expect(lines[0]).toMatch(/stack.+ConnectionFailed/);
    expect(listMatches(lines[0])).toEqual(['Error']);
  });

  it('counts settings that a store rejects as an error', () => {
    logError({ endpoint: 'validate-receipt' }, new ServiceError('InternalError', 'App Store rejected the settings.'));
    expect(listMatches(lines[0])).toEqual(['Error']);
  });

  it('counts an unavailable store as unavailable and not as an error', () => {
    logError({ endpoint: 'validate-receipt', app: 'demo', eventId: '1' }, outage);
    expect(listMatches(lines[0])).toEqual(['StoreUnavailable']);
  });

  it('counts a delayed notification', () => {
    logError({ worker: 'process-notification', problem: 'NotificationDelayed', app: 'demo', eventId: '1' }, outage);
    expect(listMatches(lines[0])).toEqual(['StoreUnavailable', 'NotificationDelayed']);
  });

  it('counts a row that a list leaves out', async () => {
    const { attempt } = attemptRows('demo');
    await attempt('store_a:1', async () => parse(v.string(), { pk: 'demo#P#store_a:1', sk: 'P' }, 'DatabaseError'));
    expect(listMatches(lines[0])).toEqual(['Error', 'RowUnreadable']);
    expect(lines[0]).toContain('Item: demo#P#store_a:1 P');
  });

  it('ignores a delayed notification that is only mentioned in a message', () => {
    logError({ worker: 'process-notification' }, new ServiceError('ConnectionFailed', 'not a NotificationDelayed'));
    expect(listMatches(lines[0])).toEqual(['StoreUnavailable']);
  });

  it.each([
    ['a crash', { errorType: 'TypeError', errorMessage: 'x is undefined', stackTrace: ['at ConnectionFailed'] }],
    ['a plain text', 'the table failed: ConnectionFailed'],
  ])('counts %s without a code as an error', (_kind, message) => {
    expect(listMatches(toLogLine('ERROR', message))).toEqual(['Error']);
  });

  it('ignores warnings', () => {
    logWarning({ endpoint: 'receive-notification' }, new ServiceError('Forbidden', 'The signature is invalid.'));
    expect(lines).toHaveLength(1);
    expect(listMatches(lines[0])).toEqual([]);
  });
});

describe('throttlePattern', () => {
  const matches = (line: object) => matchesFilterPattern(throttlePattern, JSON.stringify(line));

  it('counts requests that API Gateway rejects with 429', () => {
    expect(matches({ status: '429', error: 'THROTTLED', integrationStatus: '-' })).toBe(true);
    expect(matches({ status: '429', error: 'WAF_FILTERED', integrationStatus: '-' })).toBe(true);
  });

  it('ignores other requests, and rejected credentials that a function responds to with 429', () => {
    expect(matches({ status: '429', error: '-', integrationStatus: '429' })).toBe(false);
    expect(matches({ status: '200', error: '-', integrationStatus: '200' })).toBe(false);
  });
});
