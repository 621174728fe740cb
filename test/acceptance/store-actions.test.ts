import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { SQSEvent } from 'aws-lambda';
import { handler as refresh } from '../../functions/workers/refresh-purchase.ts';
import { getPurchase } from '../../lib/api/purchases.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import {
  type ActionCase,
  type EndChange,
  oneOffActions,
  subscriptionActions,
  unchanged,
} from '../../testing/store-actions.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(async () => {
  await service.close();
});

interface Shown {
  readonly expirationDate?: string;
}

/** The worker is given the purchase as its queue does; gives what is shown then. */
async function refreshed({ appName, secretKey }: IssuedApiKeys, purchaseId: string): Promise<Shown> {
  const record = { messageId: '1', body: JSON.stringify({ appName, purchaseId }) };
  expect(await refresh({ Records: [record] } as SQSEvent)).toEqual({ batchItemFailures: [] });
  const { body } = await callEndpoint(getPurchase, {
    headers: buildBasicAuth(appName, secretKey),
    params: { purchaseId },
  });
  return body;
}

type ProductType = 'paid subscription' | 'non consumable';
const names: Readonly<Record<ProductType, string>> = { 'paid subscription': 'premium', 'non consumable': 'lifetime' };
const storeIds: typeof names = { 'paid subscription': '9NBLGGH5W123', 'non consumable': '9NBLGGH5X123' };

/** Buys, has it validated, and has the worker look at it after each action; gives what is shown before and after. */
async function shownAround([platform, actions]: ActionCase, type: ProductType) {
  const productId = (platform === 'store_c' ? storeIds : names)[type];
  const order = { platform, productId, type, applicationUsername: createUniqueName('user') };
  const { id, validate } = await service.callControl('/purchases', order);
  const keys = await service.createApp([platform]);
  const { body } = await service.validate(keys, validate);
  if (!body.ok) throw new Error(`${platform}: ${body.message}`);
  const purchaseId = `${platform}:${body.data.collection[0].purchaseId}`;
  const before = await refreshed(keys, purchaseId);
  let after = before;
  for (const action of actions.split(' ')) {
    await service.callControl(`/purchases/${id}/${action}`, details[action] ?? {});
    after = await refreshed(keys, purchaseId);
  }
  return { before, after };
}

const details: Readonly<Record<string, object>> = {
  'change-plan': { productId: 'better' },
  share: { applicationUsername: 'a-relative' },
};

it('the table has everything that can happen at a store', async () => {
  const { platforms } = (await service.callControl('')) as { platforms: Record<string, { actions: string[] }> };
  const known = Object.entries(platforms).flatMap(([platform, { actions }]) =>
    actions.map((one) => [platform, one].join()),
  );
  const tried = subscriptionActions.flatMap(([platform, actions]) =>
    actions.split(' ').map((one) => [platform, one].join()),
  );
  expect([...new Set(tried)].sort()).toEqual(known.sort());
});

it.each(subscriptionActions)('a subscription of %s after %s ends %s and shows %j', async (...row) => {
  expectShown(row, await shownAround(row, 'paid subscription'));
});

it.each(oneOffActions)('a one-off purchase of %s after %s ends %s and shows %j', async (...row) => {
  expectShown(row, await shownAround(row, 'non consumable'));
});

function expectShown([, , end, shown]: ActionCase, { before, after }: { before: Shown; after: Shown }): void {
  expect(endOf(before, after)).toBe(end);
  if (shown === unchanged) expect(after).toEqual(before);
  else expect(after).toMatchObject(shown);
}

/** What moves by less than a minute is what was bought anew at the moment of the test. */
function endOf(before: Shown, after: Shown): EndChange {
  const movedMs = endMs(after) - endMs(before);
  if (Number.isNaN(movedMs) || Math.abs(movedMs) < 60_000) return 'as before';
  return movedMs < 0 ? 'sooner' : 'later';
}

const endMs = ({ expirationDate }: Shown): number =>
  expirationDate === undefined ? Number.POSITIVE_INFINITY : Date.parse(expirationDate);

it.each(['processor_a', 'service_processor_a'])(
  'a purchase of %s is found by an application that has both',
  async (platform) => {
    const keys = await service.createApp(['processor_a', 'service_processor_a']);
    const order = { platform, productId: 'premium', type: 'paid subscription' };
    const { validate } = await service.callControl('/purchases', {
      ...order,
      applicationUsername: createUniqueName('user'),
    });
    const { body } = await service.validate(keys, validate);
    const shown = await refreshed(keys, `${platform}:${body.data.collection[0].purchaseId}`);
    expect(shown).toMatchObject({ platform, isExpired: false, renewalIntent: 'Renew' });
  },
);
