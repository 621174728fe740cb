import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Catalogue } from '../../../lib/apps/catalogue.ts';
import { computeEntitlements, type EntitlementFacts } from '../../../lib/entitlements/entitlements.ts';
import type { Grant } from '../../../lib/entitlements/grant.ts';
import { dayMs, minuteMs } from '../../../lib/foundation/time.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import { createObservation, startDate } from '../../../testing/given.ts';

const now = startDate;
const catalogue: Catalogue = {
  monthly: { type: 'paid subscription', entitlements: ['premium'] },
  'store_b:monthly': { type: 'paid subscription', entitlements: ['premium', 'offline'] },
  forever: { type: 'non consumable', entitlements: ['premium'] },
  coins: { type: 'consumable' },
};

const createPurchase = (state: Partial<Purchase> = {}): Purchase =>
  createObservation({ purchaseDate: now - dayMs, expirationDate: now + dayMs, renewalIntent: 'Renew', ...state })
    .purchase;

const grant: Grant = {
  grantId: 'grant_1',
  username: 'ann',
  entitlement: 'premium',
  reason: 'a friend',
  createdAt: now - 2 * dayMs,
  createdBy: { id: 'key', name: 'alice' },
  version: 1,
};

const compute = (facts: Partial<EntitlementFacts>, at = now) =>
  computeEntitlements({ username: 'ann', purchases: [], grants: [], catalogue, sandboxRule: undefined, ...facts }, at);
const computePremium = (facts: Partial<EntitlementFacts>, at = now) => compute(facts, at).get('premium');

describe('computeEntitlements', () => {
  it('gives what the product of a purchase gives in the catalogue, with its dates', () => {
    const purchase = createPurchase();
    expect(Object.fromEntries(compute({ purchases: [purchase] }))).toEqual({
      premium: {
        isActive: true,
        since: now - dayMs,
        until: now + dayMs,
        willRenew: true,
        isSandbox: false,
        isInGracePeriod: false,
        source: {
          type: 'purchase',
          purchaseId: purchase.purchaseId,
          platform: 'store_a',
          productId: 'store_a:monthly',
        },
      },
    });
  });

  it('prefers the entry of the catalogue for the store', () => {
    const purchase = createPurchase({ platform: 'store_b', productId: 'store_b:monthly' });
    expect([...compute({ purchases: [purchase] }).keys()]).toEqual(['offline', 'premium']);
  });

  it('gives nothing for a product without entitlements, and nothing without a catalogue', () => {
    expect(compute({ purchases: [createPurchase({ productId: 'store_a:coins' })] }).size).toBe(0);
    expect(compute({ purchases: [createPurchase()], catalogue: undefined }).size).toBe(0);
  });

  it.each<[string, Partial<Purchase>, boolean | undefined]>([
    ['in a grace period', { isBillingRetryPeriod: true }, true],
    ['in a trial', { isTrialPeriod: true }, true],
    ['pending', { isPending: true }, undefined],
    ['abandoned', { isAbandoned: true }, undefined],
    ['paused', { isPaused: true }, false],
    ['expired', { expirationDate: now }, false],
    ['on hold', { expirationDate: now - dayMs, isBillingRetryPeriod: true }, false],
    ['refunded', { endedAt: now - minuteMs }, false],
    ['consumed', { isConsumed: true }, false],
  ])('decides whether a purchase gives access if it is %s', (_state, state, isActive) => {
    expect(computePremium({ purchases: [createPurchase(state)] })?.isActive).toBe(isActive);
  });

  it('reports a grace period and that it does not count on a renewal of a lapsing subscription', () => {
    expect(computePremium({ purchases: [createPurchase({ isBillingRetryPeriod: true })] })).toMatchObject({
      isInGracePeriod: true,
    });
    expect(computePremium({ purchases: [createPurchase({ renewalIntent: 'Lapse' })] })).toMatchObject({
      willRenew: false,
    });
  });

  it('gives until the second at which a grant ends', () => {
    const facts = { grants: [{ ...grant, until: now + minuteMs }] };
    expect(computePremium(facts, now + minuteMs - 1)).toMatchObject({ isActive: true, until: now + minuteMs });
    expect(computePremium(facts, now + minuteMs)).toMatchObject({ isActive: false, until: now + minuteMs });
  });

  it('gives nothing after the revocation of a grant', () => {
    expect(computePremium({ grants: [{ ...grant, revokedAt: now }] })).toMatchObject({ isActive: false, until: now });
  });

  it.each<[EntitlementFacts['sandboxRule'], boolean]>([
    [undefined, true],
    [{ rule: 'all' }, true],
    [{ rule: 'none' }, false],
    [{ rule: 'listed', usernames: ['ann'] }, true],
    [{ rule: 'listed', usernames: ['bob'] }, false],
  ])('applies the sandbox rule %j', (sandboxRule, gives) => {
    const purchases = [createPurchase({ sandbox: true })];
    expect(computePremium({ purchases, sandboxRule })).toEqual(
      gives ? expect.objectContaining({ isActive: true, isSandbox: true }) : undefined,
    );
  });

  it('chooses the source without an end over one with an end, and a real purchase over a sandbox one', () => {
    const forever = createObservation({
      purchaseId: 'store_a:2',
      productId: 'store_a:forever',
      productType: 'non consumable',
      purchaseDate: now - dayMs,
    }).purchase;
    const { expirationDate: _none, ...owned } = forever;
    expect(computePremium({ purchases: [createPurchase(), owned], grants: [grant] })?.source).toMatchObject({
      purchaseId: 'store_a:2',
    });
    const sandbox = createPurchase({ purchaseId: 'store_a:0', sandbox: true });
    expect(computePremium({ purchases: [sandbox, createPurchase()] })?.isSandbox).toBe(false);
  });

  it('returns an active entitlement if and only if a source is active, in any order of the sources', () => {
    const purchases = fc.array(
      fc.record({
        id: fc.nat(50),
        end: fc.integer({ min: -3, max: 3 }),
        endedAt: fc.option(fc.integer({ min: -3, max: 3 }), { nil: undefined }),
        sandbox: fc.boolean(),
        isPaused: fc.boolean(),
        isPending: fc.boolean(),
      }),
      { maxLength: 6 },
    );
    const grants = fc.array(fc.record({ id: fc.nat(50), until: fc.option(fc.integer({ min: -3, max: 3 })) }), {
      maxLength: 3,
    });
    const rule = fc.constantFrom(undefined, { rule: 'none' as const }, { rule: 'all' as const });
    fc.assert(
      fc.property(purchases, grants, rule, (purchaseInputs, grantInputs, sandboxRule) => {
        const facts = {
          purchases: purchaseInputs.map(({ id, end, endedAt, ...state }) =>
            createPurchase({
              ...state,
              purchaseId: `store_a:${id}`,
              expirationDate: now + end * dayMs,
              ...(endedAt !== undefined && { endedAt: now + endedAt * dayMs }),
            }),
          ),
          grants: grantInputs.map(({ id, until }) => ({
            ...grant,
            grantId: `grant_${id}`,
            ...(until !== null && { until: now + until * dayMs }),
          })),
          sandboxRule,
        };
        const isExpected =
          purchaseInputs.some(
            ({ end, endedAt = 9, sandbox, isPaused, isPending }) =>
              end > 0 && endedAt > 0 && !isPaused && !isPending && !(sandbox && sandboxRule?.rule === 'none'),
          ) || grantInputs.some(({ until }) => until === null || until > 0);
        const premium = computePremium(facts);
        expect(premium?.isActive ?? false).toBe(isExpected);
        const reversed = { ...facts, purchases: facts.purchases.toReversed(), grants: facts.grants.toReversed() };
        const { source: _first, ...state } = premium ?? { source: undefined };
        const { source: _second, ...reversedState } = computePremium(reversed) ?? { source: undefined };
        expect(reversedState).toEqual(state);
      }),
    );
  });
});
