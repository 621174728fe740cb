import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Platform } from '../../lib/foundation/platform.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterEach(() => service.clearFaults());
afterAll(() => service.close());

/** Buys a subscription and returns its `validate` body with the products of the app. */
async function givenSubscription(platform: Platform, productId: string, terms: object) {
  const keys = await service.createApp([platform]);
  const order = {
    platform,
    productId,
    type: 'paid subscription',
    applicationUsername: createUniqueName('user'),
    ...terms,
  };
  const { id, validate } = await service.callControl('/purchases', order);
  const group = 'group' in terms ? terms.group : 'plans';
  const products = [
    { id: productId, type: 'paid subscription', group, offers: [] },
    { id: 'same group', type: 'paid subscription', offers: [{ id: 'offer', productGroup: group }] },
    { id: 'other group', type: 'paid subscription', group: 'another' },
    { id: 'no group', type: 'consumable' },
    { group },
    null,
  ];
  const validateIntro = async (changes: object = {}): Promise<string[]> => {
    const { body } = await service.validate(keys, { ...validate, products, ...changes });
    if (!body.ok) throw new Error(body.message);
    return body.data.ineligible_for_intro_price.toSorted();
  };
  return { id, validate, validateIntro };
}

/** The processors sell the products of the emulator's settings only. */
function chooseProductId(platform: Platform): string {
  if (platform === 'processor_a') return 'basic';
  return platform === 'processor_b' ? 'monthly' : createUniqueName('plan');
}

describe('ineligible_for_intro_price', () => {
  it.each([
    ['store_a', 'trial', { trial: true }],
    ['store_a', 'introductory price', { intro: true }],
    ['store_b', 'trial', { trial: true }],
    ['processor_a', 'trial', { trial: true }],
    ['processor_b', 'trial', { trial: true }],
  ] as const)('contains the subscription group of a used offer (%s, %s)', async (platform, _offer, terms) => {
    const productId = chooseProductId(platform);
    const group = { ...(platform === 'store_a' && { group: createUniqueName('group') }) };
    const { validateIntro } = await givenSubscription(platform, productId, { ...terms, ...group });
    expect(await validateIntro()).toEqual([productId, 'same group'].toSorted());
  });

  it.each(['store_a', 'store_b'] as const)('returns no product without a used offer (%s)', async (platform) => {
    const { validateIntro } = await givenSubscription(platform, createUniqueName('plan'), {});
    expect(await validateIntro()).toEqual([]);
  });

  it.each(['store_a', 'store_b', 'processor_a', 'processor_b'] as const)(
    'is kept after the trial and while the store is unavailable (%s)',
    async (platform) => {
      const productId = chooseProductId(platform);
      const group = { ...(platform === 'store_a' && { group: createUniqueName('group') }) };
      const { id, validateIntro } = await givenSubscription(platform, productId, { trial: true, ...group });
      const expected = [productId, 'same group'].toSorted();
      expect(await validateIntro()).toEqual(expected);
      await service.callControl(`/purchases/${id}/renew`, {});
      await service.callControl('/clock', { advance: 'PT1H' });
      expect(await validateIntro()).toEqual(expected);
      await service.callControl('/clock', { advance: 'PT1H' });
      await service.callControl('/faults', { platform, fault: 'down', times: 100 });
      expect(await validateIntro()).toEqual(expected);
    },
  );
});
