import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServiceError } from '../../../../lib/foundation/errors.ts';
import { isActive } from '../../../../lib/purchases/purchase.ts';
import { googlePlay } from '../../../../lib/stores/google-play/google-play.ts';
import { sampleRuns } from '../../../../testing/sample.ts';
import { createGoogleContext, createRequest, expiryTime, now } from './fake-google.ts';
import { buildExample, listPaths, replaceAt } from './published-fields.ts';

const codes = ['InvalidPayload', 'ConnectionFailed', 'InternalError'];

/** Returns `ok` or the code of a ServiceError. Throws other errors. */
async function getOutcome(run: () => Promise<unknown>): Promise<string> {
  try {
    await run();
    return 'ok';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.code;
  }
}

describe('validate (Google Play)', () => {
  it('returns a result or a documented error for any transaction', async () => {
    const fields = fc.record(
      { purchaseToken: fc.anything(), receipt: fc.anything(), signature: fc.anything() },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fields, async (transaction) => {
        const body = { ...createRequest(), transaction: transaction as { type?: string } };
        expect(['ok', ...codes]).toContain(await getOutcome(() => googlePlay.validate(body, createGoogleContext({}))));
      }),
      sampleRuns({ sample: 60, full: 600 }),
    );
  });

  it('throws a documented error for any malformed response of Google', async () => {
    const garbage = fc.record({
      status: fc.constantFrom(200, 204, 302, 400, 401, 403, 404, 409, 410, 429, 500, 503),
      text: fc.oneof(fc.string(), fc.json(), fc.constant('<html></html>')),
    });
    await fc.assert(
      fc.asyncProperty(garbage, async (response) => {
        const context = createGoogleContext({ garbage: response });
        expect(codes).toContain(await getOutcome(() => googlePlay.validate(createRequest(), context)));
      }),
      sampleRuns({ sample: 60, full: 600 }),
    );
  });
});

describe('fields that Google publishes', () => {
  const [item] = buildExample('SubscriptionPurchaseV2').lineItems as [object];
  const subscription = {
    ...buildExample('SubscriptionPurchaseV2'),
    subscriptionState: 'SUBSCRIPTION_STATE_ACTIVE',
    linkedPurchaseToken: '',
    lineItems: [{ ...item, productId: 'premium', expiryTime }],
  };
  const { rentOfferDetails: _rental, ...productOfferDetails } = buildExample('ProductOfferDetails');
  const product = {
    ...buildExample('ProductPurchaseV2'),
    productLineItem: [{ productId: 'premium', productOfferDetails }],
    purchaseStateContext: { purchaseState: 'PURCHASED' },
  };
  const order = { ...buildExample('Order'), state: 'PROCESSED' };
  const responses = { subscription, product, order };
  /** Fields that decide about access. Their absence must not give or end it. */
  const accessFields = [
    'subscription.subscriptionState',
    'subscription.lineItems',
    'subscription.lineItems.0.productId',
    'subscription.lineItems.0.expiryTime',
    'product.productLineItem',
    'product.productLineItem.0.productId',
    'product.productLineItem.0.productOfferDetails.consumptionState',
    'product.productLineItem.0.productOfferDetails.rentOfferDetails',
    'product.purchaseStateContext',
    'product.purchaseStateContext.purchaseState',
  ];
  const readAccess = async ({ subscription: found, product: other, order: paid }: typeof responses, kind: string) => {
    const context = createGoogleContext({
      ...(kind === 'product' ? { product: other } : { subscription: found }),
      order: paid,
    });
    const { observations } = await googlePlay.validate(
      createRequest(kind === 'product' ? 'non consumable' : 'paid subscription'),
      context,
    );
    return observations.some(({ purchase }) => purchase.purchaseId === 'store_b:token-1' && isActive(purchase, now));
  };

  it.each([
    ['null', null],
    ['absent', undefined],
    ['of an unknown value', 'UNKNOWN_VALUE'],
  ])('give access while any other field is %s', async (_what, replacement) => {
    const paths = listPaths(responses).filter((path) => path.length > 1 && !accessFields.includes(path.join('.')));
    expect(paths.length).toBeGreaterThan(150);
    for (const path of paths) {
      const changed = replaceAt(responses, path, replacement) as typeof responses;
      const kind = path[0] === 'product' ? 'product' : 'subscription';
      const hasAccess = await readAccess(changed, kind).catch((error: unknown) => error);
      expect({ path: path.join('.'), hasAccess }).toEqual({ path: path.join('.'), hasAccess: true });
    }
  });
});
