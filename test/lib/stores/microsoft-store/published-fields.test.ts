import { describe, expect, it } from '@jest/globals';
import { isActive } from '../../../../lib/purchases/purchase.ts';
import { microsoftStore } from '../../../../lib/stores/microsoft-store/microsoft-store.ts';
import { listVariants } from '../../../../testing/list-variants.ts';
import { createContext, createFetch, startMicrosoft, startTime } from './fake-microsoft.ts';

const toTime = (days: number): string => new Date(startTime + days * 86_400_000).toISOString();
const identity = { identityType: 'pub', identityValue: 'user-1' };

/** One object of each type that the adapter reads, with all documented members and values of an active product. */
const examples = {
  /** @see https://learn.microsoft.com/en-us/windows/uwp/monetize/query-for-products */
  'an item of version 6': {
    acquiredDate: toTime(-1),
    acquisitionType: 'Single',
    campaignId: 'campaign',
    devOfferId: 'lifetime',
    endDate: toTime(365_000),
    fulfillmentData: ['data'],
    inAppOfferToken: 'lifetime',
    itemId: 'bb7c2d9fe5244bd5a5a9f8e7c0a1b2c3',
    localTicketReference: 'user-1',
    modifiedDate: toTime(-1),
    orderId: '0b1c2d3e-1111-4222-8333-444455556666',
    orderLineItemId: '0b1c2d3e-1111-4222-8333-444455556667',
    ownershipType: 'OwnedByBeneficiary',
    productId: '9NBLGGH5L00A',
    productType: 'Durable',
    purchasedCountry: 'US',
    purchaser: identity,
    quantity: 1,
    skuId: '0010',
    skuType: 'Full',
    startDate: toTime(-1),
    status: 'Active',
    tags: ['tag'],
    transactionId: '0b1c2d3e-1111-4222-8333-444455556668',
  },
  /**
   * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/microsoft-store-apis/xstore-v9-query-for-products
   */
  'an item of version 9': {
    acquiredDate: toTime(-1),
    acquisitionType: 'Single',
    endDate: toTime(365_000),
    id: 'bb7c2d9fe5244bd5a5a9f8e7c0a1b2c3',
    modifiedDate: toTime(-1),
    productId: '9NBLGGH5L00A',
    productKind: 'Durable',
    quantity: 1,
    recurrenceId: null,
    satisfiedByProductIds: ['9NBLGGH5L00B'],
    skuId: '0010',
    startDate: toTime(-1),
    status: 'Active',
    tags: ['tag'],
    transactionId: '0b1c2d3e-1111-4222-8333-444455556668',
    trialData: { isInTrialPeriod: false, isTrial: false, trialTimeRemaining: '00:00:00' },
  },
  /** @see https://learn.microsoft.com/en-us/windows/uwp/monetize/get-subscriptions-for-a-user */
  'a subscription': {
    autoRenew: true,
    beneficiary: 'pub:user-1',
    cancellationDate: toTime(-1),
    expirationTime: toTime(20),
    expirationTimeWithGrace: toTime(34),
    id: 'mdr:0:abc:def',
    isTrial: false,
    lastModified: toTime(-1),
    market: 'US',
    productId: '9NBLGGH5L00A',
    recurrenceState: 'Active',
    skuId: '0010',
    startTime: toTime(-10),
  },
} as const;

/** The fields that decide about the product and its access. */
const decisive: Readonly<Record<keyof typeof examples, RegExp>> = {
  'an item of version 6': /^(itemId|productId|status)$/,
  'an item of version 9': /^(id|productId|status)$/,
  'a subscription': /^(id|productId|recurrenceState)$/,
};

describe('fields that Microsoft publishes', () => {
  it.each(Object.keys(examples) as (keyof typeof examples)[])(
    'give access while any other field is null, absent or unknown: %s',
    async (name) => {
      const microsoft = await startMicrosoft();
      const isSubscription = name === 'a subscription';
      const type = isSubscription ? 'paid subscription' : 'non consumable';
      const { body } = await microsoft.createPurchase({ productId: '9NBLGGH5L00A', type });
      const settings = microsoft.settings('store_c');
      await microsoft.close();
      const hasAccess = async (page: unknown): Promise<boolean> => {
        const fetch = createFetch((url) => ({
          text: JSON.stringify(url.includes('/recurrences/') === isSubscription ? page : { items: [] }),
        }));
        const context = { ...createContext(fetch, settings), now: () => startTime };
        const { observations } = await microsoftStore.validate({ ...body, type }, context);
        return observations.some(({ purchase }) => isActive(purchase, startTime));
      };
      const variants = listVariants({ items: [examples[name]], continuationToken: null }).filter(
        ({ path }) => path.startsWith('items.0.') && !decisive[name].test(path.slice('items.0.'.length)),
      );
      expect(variants.length).toBeGreaterThan(25);
      for (const { path, change, object } of variants) {
        const result = await hasAccess(object).catch((error: unknown) => error);
        expect({ path, change, result }).toEqual({ path, change, result: true });
      }
      for (const continuationToken of [null, undefined])
        expect([continuationToken, await hasAccess({ items: [examples[name]], continuationToken })]).toEqual([
          continuationToken,
          true,
        ]);
    },
  );
});
