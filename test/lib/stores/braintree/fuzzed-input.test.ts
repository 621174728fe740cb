import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServiceError } from '../../../../lib/foundation/errors.ts';
import { braintree } from '../../../../lib/stores/braintree/braintree.ts';
import type { ValidationRequest } from '../../../../lib/stores/store.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { stoppedStopwatch } from '../../../../testing/stopwatch.ts';

const settings = {
  merchantId: 'merchant',
  publicKey: 'public',
  privateKey: 'private',
  environment: 'sandbox',
  catalogue: { coin: { type: 'consumable', amount: '1.00', currency: 'USD' } },
};

const createContext = (status: number, text: string): StoreContext => ({
  appName: 'app',
  settings,
  fetch: async () => ({ status, headers: {}, text }),
  now: () => 0,
  runOnce: (_key, charge) => charge(),
  stopwatch: stoppedStopwatch,
  extraRoots: [],
});

const buildRequest = (transaction: ValidationRequest['transaction']): ValidationRequest => ({
  id: 'coin',
  type: 'consumable',
  transaction,
});
const tryValidate = async (input: ValidationRequest, context: StoreContext): Promise<unknown> =>
  await braintree.validate(input, context).catch((error: unknown) => error);

describe('validate (Braintree) with generated input', () => {
  it('rejects any transaction without a nonce', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (dictionary) => {
        const { paymentMethodNonce: _nonce, ...transaction } = dictionary;
        expect(await tryValidate(buildRequest(transaction), createContext(500, ''))).toMatchObject({
          code: 'InvalidPayload',
        });
      }),
    );
  });

  it('translates any response of Braintree to a ServiceError', async () => {
    const xml = fc.stringMatching(/^<[a-z]{1,9}( type="array")?>(<[a-z]{1,5}\/>|[a-z&;]{0,9}){0,4}<\/[a-z]{1,9}>$/);
    const status = fc.constantFrom(200, 201, 400, 404, 408, 422, 429, 500, 503);
    await fc.assert(
      fc.asyncProperty(status, fc.oneof(fc.string(), xml), async (code, text) => {
        expect(
          await tryValidate(buildRequest({ paymentMethodNonce: 'nonce' }), createContext(code, text)),
        ).toBeInstanceOf(ServiceError);
      }),
    );
  });
});
