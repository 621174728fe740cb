import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as v from 'valibot';
import { toClaimName } from '../../../../emulator/test/microsoft-store-client-app.ts';
import { ServiceError } from '../../../../lib/foundation/errors.ts';
import { Purchase } from '../../../../lib/purchases/purchase.ts';
import { Transaction } from '../../../../lib/purchases/transaction.ts';
import { microsoftStore } from '../../../../lib/stores/microsoft-store/microsoft-store.ts';
import type { StoreValidation, ValidationRequest } from '../../../../lib/stores/store.ts';
import type { StoreFetch } from '../../../../lib/stores/store-context.ts';
import { sampleRuns } from '../../../../testing/sample.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { createContext, createFetch, startMicrosoft, startTime } from './fake-microsoft.ts';

const microsoft = startBeforeAll(startMicrosoft);
let bodies: ValidationRequest[];
beforeAll(async () => {
  const { id } = await microsoft.createPurchase();
  bodies = await Promise.all(['keys', 'both', 'brand', 'ticket'].map((form) => microsoft.getRequest(id, form)));
});

/** Returns `validated` if all records match their schemas, or the code of a ServiceError. Throws other errors. */
async function getOutcome(promise: Promise<StoreValidation>): Promise<string> {
  try {
    const { observations } = await promise;
    for (const { purchase, transactions } of observations) {
      v.parse(Purchase, purchase);
      for (const transaction of transactions) v.parse(Transaction, transaction);
    }
    return 'validated';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.code;
  }
}

const junk = fc.oneof(fc.string(), fc.jsonValue(), fc.constantFrom(null, '', 0, '9NBLGGH5WVP6', '\u0000', 'a/b', '..'));

const unsignedKey = fc
  .record(
    { aud: junk, exp: junk, [toClaimName('clientId')]: junk, [toClaimName('userId')]: junk },
    { requiredKeys: [] },
  )
  .map((claims) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.AA`);

const dates = fc.oneof(
  junk,
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom(
    '0001-01-01T00:00:00',
    '9999-12-31T23:59:59.9999999+00:00',
    '2027-01-31T10:00:00Z',
    '2027-02-28T10:00:00Z',
  ),
);
const flag = fc.oneof(fc.boolean(), fc.constant(null), junk);
const states = fc.constantFrom('None', 'Active', 'Inactive', 'Canceled', 'InDunning', 'Failed', 'Revoked', '', null);
const item = fc.record(
  {
    id: fc.oneof(fc.constant('mdr:0:1'), junk),
    productId: fc.constantFrom('monthly', 'MONTHLY', 'other'),
    productKind: fc.constantFrom('Durable', 'Consumable', 'UnmanagedConsumable', 'Pass', null),
    status: fc.constantFrom('Active', 'Expired', 'Revoked', 'Banned', 'constructor', null),
    recurrenceState: fc.oneof(states, fc.constantFrom('constructor', '__proto__')),
    recurrenceId: fc.constantFrom('', null, 'mdr:0:1'),
    autoRenew: flag,
    isTrial: flag,
    startTime: dates,
    expirationTime: dates,
    expirationTimeWithGrace: dates,
    lastModified: dates,
    cancellationDate: dates,
    acquiredDate: dates,
    endDate: dates,
    modifiedDate: dates,
    quantity: fc.oneof(fc.integer(), fc.constant(null), junk),
    trialData: fc.oneof(fc.constant(null), fc.record({ isInTrialPeriod: flag })),
  },
  { requiredKeys: ['id', 'productId'] },
);
const responses = fc.oneof(
  { weight: 8, arbitrary: fc.record({ items: fc.array(item, { maxLength: 3 }) }).map((page) => JSON.stringify(page)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string() },
);

describe('validate (Microsoft Store)', () => {
  it('returns a result or a documented error for any request', async () => {
    const license = fc.dictionary(
      fc.constantFrom('storeIdKey_collections', 'storeIdKey_purchases', 'storeIdKey_purchase', 'type'),
      fc.oneof(junk, unsignedKey),
    );
    const transaction = fc.dictionary(fc.constantFrom('type', 'storeId', 'skuId', 'id', 'receipt'), junk);
    await fc.assert(
      fc.asyncProperty(fc.nat(3), license, transaction, fc.string(), async (form, keys, transactionChanges, id) => {
        const body = bodies[form];
        const request = {
          ...body,
          id,
          transaction: { ...body?.transaction, ...transactionChanges },
          license: { ...body?.license, ...keys },
        };
        const outcome = await getOutcome(microsoft.validate(request as ValidationRequest));
        expect(['validated', 'InvalidPayload', 'NeedMoreData']).toContain(outcome);
      }),
      sampleRuns({ sample: 40, full: 500 }),
    );
  });

  it('returns only valid records for any response of the store', async () => {
    const outcomes = new Map<string, number>();
    const settings = microsoft.settings('store_c');
    const period = fc.constantFrom({}, { billingPeriod: 1, billingPeriodUnit: 'Month' as const });
    const hints = fc.oneof(
      period,
      fc.record({ billingPeriod: fc.double(), billingPeriodUnit: fc.constantFrom('Day', 'Year') }),
    );
    await fc.assert(
      fc.asyncProperty(responses, fc.constantFrom(0, 1), fc.boolean(), hints, async (text, form, isItem, hint) => {
        const fetch: StoreFetch = createFetch(() => ({ text }));
        const type = isItem ? 'non consumable' : 'paid subscription';
        const request = { ...bodies[form], type, ...hint } as ValidationRequest;
        const context = { ...createContext(fetch, settings), now: () => startTime };
        const outcome = await getOutcome(microsoftStore.validate(request, context));
        expect(['validated', 'ConnectionFailed', 'NeedMoreData']).toContain(outcome);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }),
      sampleRuns({ sample: 150, full: 2_000 }),
    );
    const total = [...outcomes.values()].reduce((sum, count) => sum + count);
    expect((outcomes.get('validated') ?? 0) / total).toBeGreaterThan(0.05);
  });
});
