import { expect, it } from '@jest/globals';
import { matchesPattern } from '../../local/event-filter.ts';

const record = { eventName: 'INSERT', dynamodb: { Keys: { pk: { S: 'a#P#1' }, sk: { S: 'T#2' } } } };
const sk = (rules: readonly unknown[]) => ({ dynamodb: { Keys: { sk: { S: rules } } } });

it.each<[string, object, boolean]>([
  ['an equal text', { eventName: ['INSERT', 'MODIFY'] }, true],
  ['no equal text', { eventName: ['REMOVE'] }, false],
  ['a beginning', sk([{ prefix: 'T#' }]), true],
  ['another beginning', sk([{ prefix: 'P' }]), false],
  ['one of several rules', sk(['P', { prefix: 'T' }]), true],
  ['a member that is there', { dynamodb: { Keys: [{ exists: true }] } }, true],
  ['a member that is not there', { userIdentity: [{ exists: false }] }, true],
  ['a leaf whose parent is not there', { userIdentity: { principalId: [{ exists: false }] } }, true],
  ['two members of which one differs', { eventName: ['INSERT'], ...sk(['P']) }, false],
])('matchesPattern evaluates a pattern with %s', (_what, pattern, expected) => {
  expect(matchesPattern(record, pattern)).toBe(expected);
});

it.each([{ eventName: [{ cidr: '10.0.0.0/8' }] }, { $or: [{ eventName: ['INSERT'] }] }])(
  'matchesPattern rejects an unknown rule: %j',
  (pattern) => {
    expect(() => matchesPattern(record, pattern)).toThrow('does not run on this machine');
  },
);
