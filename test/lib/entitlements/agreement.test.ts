import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeJwt } from 'jose';
import type { SandboxRule } from '../../../lib/apps/app.ts';
import type { Catalogue } from '../../../lib/apps/catalogue.ts';
import { findAccessReasons } from '../../../lib/entitlements/find-access-reasons.ts';
import type { Grant } from '../../../lib/entitlements/grant.ts';
import { readEntitlements } from '../../../lib/entitlements/read-entitlements.ts';
import { createTokenKeys, signEntitlementToken } from '../../../lib/entitlements/token-key.ts';
import { catalogueKey, customerKey, grantKey, purchaseKey } from '../../../lib/foundation/keys.ts';
import type { Item, Table } from '../../../lib/foundation/table.ts';
import { dayMs, secondMs } from '../../../lib/foundation/time.ts';
import { listPurchaseSortKeys } from '../../../lib/purchases/owned-purchase-links.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import { buildDelivery } from '../../../lib/webhooks/delivery.ts';
import { buildWebhookBody } from '../../../lib/webhooks/webhook-request.ts';
import { createService } from '../../../testing/create-service.ts';
import { createObservation, startDate } from '../../../testing/given.ts';
import { sampleRuns } from '../../../testing/sample.ts';

const products = ['store_a:gold', 'store_b:gold', 'store_c:basic', 'processor_a:gold', 'processor_b:basic'];
const names = ['premium', 'offline'];
const keys = createTokenKeys(startDate);

const arbitraryCatalogue: fc.Arbitrary<Catalogue> = fc
  .array(fc.subarray(names), { minLength: products.length, maxLength: products.length })
  .map((lists) =>
    Object.fromEntries(
      products.map((id, index) => [id, { type: 'paid subscription' as const, entitlements: lists[index] ?? [] }]),
    ),
  );

const days = fc.integer({ min: -20, max: 20 }).map((count) => startDate + count * dayMs);
const flag = fc.option(fc.constant(true as const), { nil: undefined });

const arbitraryPurchase: fc.Arbitrary<Purchase> = fc
  .record(
    {
      productId: fc.constantFrom(...products),
      sandbox: fc.boolean(),
      expirationDate: days,
      endedAt: fc.option(days, { nil: undefined }),
      isPaused: flag,
      isPending: flag,
      isConsumed: flag,
      isBillingRetryPeriod: flag,
    },
    { requiredKeys: ['productId', 'sandbox', 'expirationDate'] },
  )
  .map((fields) => {
    const defined = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
    return createObservation({ ...(defined as Partial<Purchase>), purchaseDate: startDate - 30 * dayMs }).purchase;
  });

const arbitraryGrant: fc.Arbitrary<Grant> = fc
  .record({ entitlement: fc.constantFrom(...names), until: fc.option(days), isRevoked: fc.boolean() })
  .map(({ entitlement, until, isRevoked }) => ({
    grantId: `grant_${entitlement}_${until}`,
    username: 'ann',
    entitlement,
    reason: 'a test',
    createdAt: startDate - 30 * dayMs,
    createdBy: { id: 'key', name: 'main' },
    ...(until !== null && { until }),
    ...(isRevoked && { revokedAt: startDate - dayMs, revokedBy: { id: 'key', name: 'main' } }),
    version: 1,
  }));

const arbitraryRule: fc.Arbitrary<SandboxRule | undefined> = fc.constantFrom(
  undefined,
  { rule: 'all' },
  { rule: 'none' },
  { rule: 'listed', usernames: ['ann'] },
  { rule: 'listed', usernames: ['bob'] },
);

const arbitraryLife = fc.record({
  catalogue: arbitraryCatalogue,
  sandboxRule: arbitraryRule,
  purchases: fc.array(arbitraryPurchase, { maxLength: 6 }),
  grants: fc.uniqueArray(arbitraryGrant, { maxLength: 3, selector: ({ grantId }) => grantId }),
});

interface Life {
  readonly catalogue: Catalogue;
  readonly purchases: readonly Purchase[];
  readonly grants: readonly Grant[];
}

/** Creates a table in memory with a customer's life, without its history: the property has many lives. */
function createTableOfLife(appName: string, { catalogue, purchases, grants }: Life): Table {
  const partition = customerKey.partition(appName, 'ann');
  const times = { asOf: startDate, createdAt: startDate, updatedAt: startDate, checkedAt: startDate };
  const items: readonly Item[] = [
    { ...catalogueKey(appName), catalogue },
    ...purchases.flatMap((purchase) => [
      {
        ...purchaseKey(appName, purchase.purchaseId),
        ...times,
        purchase,
        userAliases: [],
        entitledUsers: ['ann'],
        version: 1,
      },
      ...listPurchaseSortKeys(purchase).map((sk) => ({ pk: partition, sk })),
    ]),
    ...grants.map((grant) => ({ ...grantKey(appName, 'ann', grant.grantId), ...grant })),
  ];
  const reads: Pick<Table, 'get' | 'batchGet' | 'query'> = {
    get: async ({ pk, sk }) => items.find((item) => item.pk === pk && item.sk === sk),
    batchGet: async (keys) => items.filter(({ pk, sk }) => keys.some((key) => key.pk === pk && key.sk === sk)),
    query: async ({ partition: pk, index, prefix = '', between: [from, until] = [prefix, `${prefix}~`] }) =>
      items.filter((item) => !index && item.pk === pk && from <= String(item.sk) && String(item.sk) <= until),
  };
  return reads as Table;
}

describe('entitlements', () => {
  it('agree in the response, the webhook, the token and the explanation', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryLife, async ({ catalogue, sandboxRule, grants, ...life }) => {
        const purchases = life.purchases.map((purchase, index) => ({ ...purchase, purchaseId: `store_a:${index}` }));
        const service = createService(createTableOfLife('demo', { catalogue, purchases, grants }));
        const app = { name: 'demo', strategy: 'all', ...(sandboxRule && { sandboxRule }) } as const;
        const entitlements = await readEntitlements(service, app, 'ann');
        const active = [...entitlements].filter(([, { isActive }]) => isActive).map(([name]) => name);

        const { token, expiresAt } = await signEntitlementToken(
          { issuer: 'https://api.test', appName: 'demo', username: 'ann', entitlements, now: startDate },
          keys,
        );
        const claims = decodeJwt<{ entitlements: Record<string, { until: number | null }> }>(token);
        expect(Object.keys(claims.entitlements).sort()).toEqual(active);
        for (const name of active) {
          const { until } = entitlements.get(name) ?? {};
          expect(claims.entitlements[name]?.until ?? undefined).toBe(until && Math.floor(until / secondMs));
        }
        const ends = active.map((name) => entitlements.get(name)?.until ?? Number.POSITIVE_INFINITY);
        if (active.length > 0) expect(expiresAt).toBeLessThanOrEqual(Math.max(...ends));

        const notification = { id: 'n', reason: 'OTHER', date: startDate } as const;
        const delivery = buildDelivery({
          appName: 'demo',
          type: 'purchases.updated',
          url: 'https://app.test',
          username: 'ann',
          notification,
          createdAt: startDate,
        });
        const body = JSON.parse(
          buildWebhookBody(delivery, {
            purchases,
            entitlements: { all: entitlements, changed: [] },
            vocabulary: 'neutral',
            now: startDate,
          }),
        );
        const sent = Object.entries<{ isActive: boolean }>(body.entitlements).filter(([, { isActive }]) => isActive);
        expect(sent.map(([name]) => name)).toEqual(active);

        for (const entitlement of names) {
          const { isActive, because } = await findAccessReasons(service, app, 'ann', { entitlement });
          expect(isActive).toBe(active.includes(entitlement));
          expect(because.some(({ effect }) => effect === 'gives')).toBe(isActive);
        }
      }),
      sampleRuns({ sample: 200, full: 5_000 }),
    );
  });
});
