import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type Claim,
  renewClaim,
  resolveEntitledUsers,
  type Strategy,
  strategies,
} from '../../../lib/purchases/claims.ts';

type ClaimInput = Pick<Claim, 'username' | 'source'>;

const arbitraryClaims = fc.array(
  fc.record({
    username: fc.constantFrom('ann', 'bob', 'cy'),
    source: fc.constantFrom<Claim['source']>('validation', 'validation', 'manual'),
  }),
  { minLength: 1, maxLength: 12 },
);

/** Applies the claims in order, one each millisecond. */
function applyClaims(history: readonly ClaimInput[]): Claim[] {
  const claims = new Map<string, Claim>();
  history.forEach(({ username, source }, now) => {
    claims.set(username, renewClaim(claims.get(username), username, source, now));
  });
  return [...claims.values()];
}

const resolveUsers = (history: readonly ClaimInput[], strategy: Strategy) =>
  resolveEntitledUsers(applyClaims(history), strategy);

describe('resolveEntitledUsers', () => {
  it('returns the user of the latest manual link with every strategy', () => {
    fc.assert(
      fc.property(arbitraryClaims, fc.constantFrom(...strategies), (history, strategy) => {
        const link = history.findLast(({ source }) => source === 'manual');
        fc.pre(link !== undefined);
        expect(resolveUsers(history, strategy)).toEqual([link?.username]);
      }),
    );
  });

  it('returns all, the first or the last validating user if there is no manual link', () => {
    fc.assert(
      fc.property(arbitraryClaims, (history) => {
        const validations = history.map(({ username }) => ({ username, source: 'validation' as const }));
        const names = validations.map(({ username }) => username);
        expect(resolveUsers(validations, 'all')).toEqual([...new Set(names)]);
        expect(resolveUsers(validations, 'first')).toEqual([names[0]]);
        expect(resolveUsers(validations, 'last')).toEqual([names.at(-1)]);
      }),
    );
  });

  it('does not depend on the order of the claims', () => {
    fc.assert(
      fc.property(arbitraryClaims, fc.constantFrom(...strategies), (history, strategy) => {
        const claims = applyClaims(history);
        expect(resolveEntitledUsers([...claims].reverse(), strategy)).toEqual(resolveEntitledUsers(claims, strategy));
      }),
    );
  });

  it('returns no users for an unclaimed purchase', () => {
    for (const strategy of strategies) expect(resolveEntitledUsers([], strategy)).toEqual([]);
  });
});
