import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type Claim,
  renewClaim,
  resolveEntitledUsers,
  type Strategy,
  strategies,
} from '../../../lib/purchases/claims.ts';

type Act = { readonly username: string; readonly how: Claim['source'] };

const acts = fc.array(
  fc.record({
    username: fc.constantFrom('ann', 'bob', 'cy'),
    how: fc.constantFrom<Claim['source']>('validation', 'validation', 'manual'),
  }),
  { minLength: 1, maxLength: 12 },
);

/** The claims after the acts, one a second. */
function claimsAfter(history: readonly Act[]): Claim[] {
  const claims = new Map<string, Claim>();
  history.forEach(({ username, how }, second) => {
    claims.set(username, renewClaim(claims.get(username), username, how, second));
  });
  return [...claims.values()];
}

const owners = (history: readonly Act[], strategy: Strategy) => resolveEntitledUsers(claimsAfter(history), strategy);

describe('the owners of a purchase', () => {
  it('are the latest manual link alone, under every strategy', () => {
    fc.assert(
      fc.property(acts, fc.constantFrom(...strategies), (history, strategy) => {
        const link = history.findLast(({ how }) => how === 'manual');
        fc.pre(link !== undefined);
        expect(owners(history, strategy)).toEqual([link?.username]);
      }),
    );
  });

  it('are without links: everyone, the first or the last who validated', () => {
    fc.assert(
      fc.property(acts, (history) => {
        const validations = history.map(({ username }) => ({ username, how: 'validation' as const }));
        const names = validations.map(({ username }) => username);
        expect(owners(validations, 'all')).toEqual([...new Set(names)]);
        expect(owners(validations, 'first')).toEqual([names[0]]);
        expect(owners(validations, 'last')).toEqual([names.at(-1)]);
      }),
    );
  });

  it('do not depend on the order in which the claims are read', () => {
    fc.assert(
      fc.property(acts, fc.constantFrom(...strategies), (history, strategy) => {
        const claims = claimsAfter(history);
        expect(resolveEntitledUsers([...claims].reverse(), strategy)).toEqual(resolveEntitledUsers(claims, strategy));
      }),
    );
  });

  it('are nobody while nobody claims', () => {
    for (const strategy of strategies) expect(resolveEntitledUsers([], strategy)).toEqual([]);
  });
});
