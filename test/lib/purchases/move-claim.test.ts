import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { strategies } from '../../../lib/apps/app.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import { type Claim, resolveEntitledUsers } from '../../../lib/purchases/claims.ts';
import { computeClaimMove, computeClaimReturn } from '../../../lib/purchases/move-claim.ts';
import { computePurchaseChange, type PurchaseChange } from '../../../lib/purchases/purchase-change.ts';
import type { StoredPurchase } from '../../../lib/purchases/stored-purchase.ts';
import { createObservation, startDate } from '../../../testing/given.ts';

const base = { mergeId: 'merge_1', from: 'guest', to: 'ann', strategy: 'all', now: startDate } as const;

const createClaim = (username: string, date: number, claim: Partial<Claim> = {}): Claim => ({
  username,
  source: 'validation',
  firstClaimedAt: date,
  lastClaimedAt: date,
  ...claim,
});

function givenClaims(claims: readonly Claim[], strategy: (typeof strategies)[number] = 'all'): StoredPurchase {
  const observation = createObservation({ expirationDate: startDate + dayMs });
  const update = { trigger: 'notification', observation, strategy, now: startDate } as const;
  const stored = computePurchaseChange(undefined, update)?.after;
  if (!stored) throw new Error('The purchase is missing.');
  return { ...stored, claims, entitledUsers: resolveEntitledUsers(claims, strategy) };
}

const requireMove = (before: StoredPurchase, input = base as Parameters<typeof computeClaimMove>[1]) => {
  const change = computeClaimMove(before, input);
  if (!change?.movedClaim) throw new Error('No claim was moved.');
  return { change, moved: change.movedClaim };
};
const listNames = ({ after }: PurchaseChange): string[] => after.claims.map(({ username }) => username);

describe('computeClaimMove', () => {
  it('moves the claim with its times and announces the change to both customers', () => {
    const { change } = requireMove(givenClaims([createClaim('guest', 1)]));
    expect(change.after.claims).toEqual([createClaim('ann', 1)]);
    expect(change).toMatchObject({
      announcedUsers: ['ann', 'guest'],
      announcedReasons: ['OTHER'],
      gainedUsers: ['ann'],
      lostUsers: ['guest'],
    });
  });

  it('announces nothing to a customer whose ownership does not change', () => {
    const { change } = requireMove(givenClaims([createClaim('guest', 1), createClaim('ann', 2)]));
    expect(change.announcedUsers).toEqual(['guest']);
    expect(change.after.claims).toEqual([{ ...createClaim('ann', 1), lastClaimedAt: 2 }]);
  });

  it('returns undefined without a claim of the merged customer', () => {
    expect(computeClaimMove(givenClaims([createClaim('ann', 1)]), base)).toBeUndefined();
  });

  it('keeps a manual link with its time, so that a later link of a third customer decides', () => {
    const claims = [
      createClaim('guest', 1, { source: 'manual' }),
      createClaim('bob', 2, { source: 'manual' }),
      createClaim('ann', 3),
    ];
    const { change } = requireMove(givenClaims(claims));
    expect(change.after.entitledUsers).toEqual(['bob']);
  });

  it('gives the purchase to the receiving customer if and only if one of both owned it', () => {
    const claim = fc.record({
      username: fc.constantFrom('guest', 'ann', 'bob', 'eve'),
      date: fc.integer({ min: 1, max: 6 }),
      source: fc.constantFrom('validation' as const, 'alias' as const),
    });
    const claims = fc.uniqueArray(claim, { selector: ({ date }) => date, minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(claims, fc.constantFrom('all' as const, 'first' as const, 'last' as const), (rows, strategy) => {
        const byUser = new Map(rows.map((row) => [row.username, createClaim(row.username, row.date, row)]));
        const before = givenClaims(
          [...byUser.values()].map(({ username, source, firstClaimedAt }) =>
            createClaim(username, firstClaimedAt, { source }),
          ),
          strategy,
        );
        if (!before.claims.some(({ username }) => username === 'guest')) return;
        const { change } = requireMove(before, { ...base, strategy });
        const wasOwned = before.entitledUsers.some((user) => user === 'guest' || user === 'ann');
        expect(change.after.entitledUsers.includes('ann')).toBe(wasOwned);
        expect(change.after.entitledUsers).not.toContain('guest');
      }),
    );
  });
});

describe('computeClaimReturn', () => {
  it.each(strategies)('restores the claims and the owner (%s)', (strategy) => {
    const claims = [createClaim('guest', 1), createClaim('bob', 2), createClaim('ann', 3)];
    const before = givenClaims(claims, strategy);
    const { change, moved } = requireMove(before, { ...base, strategy });
    const returned = computeClaimReturn(change.after, moved, { strategy, now: startDate });
    expect(returned?.after.entitledUsers).toEqual(before.entitledUsers);
    expect(returned?.after.claims).toEqual(expect.arrayContaining([...before.claims]));
    expect(returned?.after.claims).toHaveLength(3);
  });

  it('keeps a claim that the receiving customer has made since', () => {
    const { change, moved } = requireMove(givenClaims([createClaim('guest', 1)]));
    const linked = { ...change.after, claims: [createClaim('ann', 9, { source: 'manual' })] };
    const returned = computeClaimReturn(linked, moved, base);
    expect(returned && listNames(returned).sort()).toEqual(['ann', 'guest']);
  });

  it('changes nothing the second time', () => {
    const { change, moved } = requireMove(givenClaims([createClaim('guest', 1)]));
    const returned = computeClaimReturn(change.after, moved, base);
    expect(returned && computeClaimReturn(returned.after, moved, base)).toBeUndefined();
  });
});
