import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../../lib/foundation/errors.ts';
import { googlePlay } from '../../../../lib/stores/google-play/google-play.ts';
import type { StoreContext, StoreFetch } from '../../../../lib/stores/store-context.ts';
import { createGoogleContext, createRequest, expiryTime } from './fake-google.ts';

const subscription = (latestSuccessfulOrderId: string) => ({
  subscriptionState: 'SUBSCRIPTION_STATE_ACTIVE',
  startTime: '2026-09-21T12:00:00Z',
  lineItems: [{ productId: 'premium', expiryTime, latestSuccessfulOrderId }],
});
const product = {
  orderId: 'GPA.1',
  purchaseStateContext: { purchaseState: 'PURCHASED' },
  purchaseCompletionTime: '2026-11-20T12:00:00Z',
  productLineItem: [{ productId: 'premium', productOfferDetails: { quantity: 1 } }],
};

const respond = (status: number, text: string) => async () => ({ status, text, headers: {} });
const disconnect: StoreFetch = async () => {
  throw new ServiceError('ConnectionFailed', 'no response');
};

/** Creates a context whose orders are unavailable in this way. */
function createContext(respondToOrder: StoreFetch, changes: Partial<StoreContext>): StoreContext {
  const context = createGoogleContext({ subscription: subscription('GPA.1..1'), product });
  const fetch: StoreFetch = async (url, init) =>
    /orders/.test(url) ? await respondToOrder(url, init) : await context.fetch(url, init);
  return { ...context, fetch, ...changes };
}

const failures: [string, StoreFetch][] = [
  ['no response', disconnect],
  ['HTTP 503', respond(503, '')],
  ['HTTP 429', respond(429, '{}')],
  ['an HTML page', respond(200, '<html>')],
];

describe.each(['paid subscription', 'non consumable'] as const)(
  'validate (store_b) of a %s without its order',
  (type) => {
    const validate = async (respondToOrder: StoreFetch, changes: Partial<StoreContext> = {}) =>
      await googlePlay.validate(createRequest(type), createContext(respondToOrder, changes));

    it.each(failures)('grants access without an amount after %s', async (_name, respondToOrder) => {
      const [observation] = (await validate(respondToOrder)).observations;
      expect(observation?.purchase).toMatchObject({ productId: 'store_b:premium' });
      expect(observation?.purchase.amountMicros).toBeUndefined();
    });

    it.each(failures)(
      'throws ConnectionFailed after %s if the context requires amounts',
      async (_name, respondToOrder) => {
        await expect(validate(respondToOrder, { requiresAmounts: true })).rejects.toMatchObject({
          code: 'ConnectionFailed',
        });
      },
    );

    it.each([
      ['that Google does not have', 404, '{"error":{"code":404}}'],
      ['that the service account must not read', 403, '{"error":{"errors":[{"reason":"permissionDenied"}]}}'],
    ])('accepts an order %s if the context requires amounts', async (_name, status, text) => {
      const { observations } = await validate(respond(status, text), { requiresAmounts: true });
      expect(observations).toHaveLength(1);
    });
  },
);
