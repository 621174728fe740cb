import { expect, it } from '@jest/globals';
import type { SQSEvent } from 'aws-lambda';
import { mapValues } from '../../emulator/map-values.ts';
import { handler as refreshPurchase } from '../../functions/workers/refresh-purchase.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import {
  type ActionCase,
  actionsOfOtherTests,
  consumableActions,
  type EndChange,
  oneOffActions,
  pendingActions,
  subscriptionActions,
  unchanged,
} from '../../testing/store-actions.ts';

const service = startBeforeAll(startTestService);

interface PurchaseView {
  readonly expirationDate?: string;
}

/** Refreshes the purchase with the worker. Returns the record of `GET /v3/purchases/:purchaseId`. */
async function refreshAndFetch({ appName, secretKey }: IssuedApiKeys, purchaseId: string): Promise<PurchaseView> {
  const record = { messageId: '1', body: JSON.stringify({ appName, purchaseId }) };
  expect(await refreshPurchase({ Records: [record] } as SQSEvent)).toEqual({ batchItemFailures: [] });
  const { body } = await callEndpoint(getPurchase, {
    headers: buildBasicAuth(appName, secretKey),
    params: { purchaseId },
  });
  return body;
}

type ProductType = 'paid subscription' | 'non consumable';
const productIds: Readonly<Record<ProductType, string>> = {
  'paid subscription': 'premium',
  'non consumable': 'lifetime',
};
const microsoftStoreProductIds: typeof productIds = {
  'paid subscription': '9NBLGGH5W123',
  'non consumable': '9NBLGGH5X123',
};

/**
 * Buys and validates a purchase and refreshes it after each action. Returns its records before and after the actions.
 */
async function performActions([platform, actions]: ActionCase, type: ProductType) {
  const productId = (platform === 'store_c' ? microsoftStoreProductIds : productIds)[type];
  const order = { platform, productId, type, applicationUsername: createUniqueName('user') };
  const { id, validate } = await service.callControl('/purchases', order);
  const keys = await service.createApp([platform]);
  const { body } = await service.validate(keys, validate);
  if (!body.ok) throw new Error(`${platform}: ${body.message}`);
  const purchaseId = `${platform}:${body.data.collection[0].purchaseId}`;
  const before = await refreshAndFetch(keys, purchaseId);
  let after = before;
  for (const action of actions.split(' ')) {
    await service.callControl(`/purchases/${id}/${action}`, actionDetails[action] ?? {});
    after = await refreshAndFetch(keys, purchaseId);
  }
  return { before, after };
}

const actionDetails: Readonly<Record<string, object>> = {
  'add-item': { productId: 'extra', priceMicros: 1_000_000 },
  'extra-invoice': { priceMicros: 2_000_000 },
  'invoice-item': { priceMicros: 2_000_000 },
  pay: { record: true },
  'remove-item': { productId: 'extra' },
  'change-plan': { productId: 'better', priceMicros: 6_000_000 },
  share: { applicationUsername: 'a-relative' },
};

it('tests every action of every store', async () => {
  const { platforms } = (await service.callControl('')) as { platforms: Record<string, { actions: string[] }> };
  const available = Object.entries(platforms).flatMap(([platform, { actions }]) =>
    actions.map((action) => [platform, action].join()),
  );
  const tested = subscriptionActions.flatMap(([platform, actions]) =>
    actions.split(' ').map((action) => [platform, action].join()),
  );
  const testedElsewhere = [...pendingActions, ...consumableActions, ...actionsOfOtherTests].map((row) => row.join());
  expect([...new Set([...tested, ...testedElsewhere])].sort()).toEqual(available.sort());
});

it.each(sampleItems(subscriptionActions, 30))(
  'returns a subscription of %s after %s with the end %s and %j',
  async (...row) => {
    expectRecord(row, await performActions(row, 'paid subscription'));
  },
);

it.each(sampleItems(oneOffActions, 6))(
  'returns a one-off purchase of %s after %s with the end %s and %j',
  async (...row) => {
    expectRecord(row, await performActions(row, 'non consumable'));
  },
);

function expectRecord(
  [, , end, expected]: ActionCase,
  { before, after }: { before: PurchaseView; after: PurchaseView },
): void {
  expect(compareEnds(before, after)).toBe(end);
  if (expected === unchanged) expect(after).toEqual(before);
  // A field that is expected to be undefined must be absent.
  else expect({ ...mapValues({ ...expected }, () => undefined), ...after }).toMatchObject(expected);
}

/** Ignores differences below one minute: an action can create a purchase that starts at the time of the test. */
function compareEnds(before: PurchaseView, after: PurchaseView): EndChange {
  const movedMs = getEndMs(after) - getEndMs(before);
  if (Number.isNaN(movedMs) || Math.abs(movedMs) < 60_000) return 'as before';
  return movedMs < 0 ? 'sooner' : 'later';
}

const getEndMs = ({ expirationDate }: PurchaseView): number =>
  expirationDate === undefined ? Number.POSITIVE_INFINITY : Date.parse(expirationDate);

it('keeps a consumable of the App Store after finish', async () => {
  const order = { platform: 'store_a', productId: 'coins', type: 'consumable' };
  const { id, validate } = await service.callControl('/purchases', order);
  const keys = await service.createApp(['store_a']);
  await service.validate(keys, validate);
  const before = await refreshAndFetch(keys, `store_a:${id}`);
  await service.callControl(`/purchases/${id}/finish`, {});
  expect(await refreshAndFetch(keys, `store_a:${id}`)).toEqual(before);
});

it.each(['processor_a', 'service_processor_a'])(
  'validates and refreshes a purchase of %s for an app with both platforms',
  async (platform) => {
    const keys = await service.createApp(['processor_a', 'service_processor_a']);
    const order = { platform, productId: 'premium', type: 'paid subscription' };
    const { validate } = await service.callControl('/purchases', {
      ...order,
      applicationUsername: createUniqueName('user'),
    });
    const { body } = await service.validate(keys, validate);
    const record = await refreshAndFetch(keys, `${platform}:${body.data.collection[0].purchaseId}`);
    expect(record).toMatchObject({ platform, isExpired: false, renewalIntent: 'Renew' });
  },
);
