import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as v from 'valibot';
import { Purchase } from '../../../../lib/purchases/purchase.ts';
import { Transaction } from '../../../../lib/purchases/transaction.ts';
import { ServiceError } from '../../../../lib/shared/errors.ts';
import type { StoreValidation, ValidationRequest } from '../../../../lib/stores/store.ts';
import { storeC } from '../../../../lib/stores/store-c/store-c.ts';
import type { StoreFetch } from '../../../../lib/stores/store-context.ts';
import { toClaimName } from '../../../emulator/store-c-client-app.ts';
import { answering, askingWith, type Microsoft, start, useMicrosoft } from './fake-microsoft.ts';

let microsoft: Microsoft;
let bodies: ValidationRequest[];
beforeAll(async () => {
  microsoft = await useMicrosoft();
  const { id } = await microsoft.bought();
  bodies = await Promise.all(['keys', 'both', 'brand', 'ticket'].map((form) => microsoft.bodyOf(id, form)));
});
afterAll(() => microsoft.close());

/** What came of it: a validation whose records fit their schemas, or an error that callers know. */
async function outcome(validating: Promise<StoreValidation>): Promise<string> {
  try {
    const { observations } = await validating;
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

it('whatever a client sends, it gets an answer or an error that it knows', async () => {
  const license = fc.dictionary(
    fc.constantFrom('storeIdKey_collections', 'storeIdKey_purchases', 'storeIdKey_purchase', 'type'),
    fc.oneof(junk, unsignedKey),
  );
  const transaction = fc.dictionary(fc.constantFrom('type', 'storeId', 'skuId', 'id', 'receipt'), junk);
  await fc.assert(
    fc.asyncProperty(fc.nat(3), license, transaction, fc.string(), async (form, keys, more, id) => {
      const body = bodies[form];
      const request = {
        ...body,
        id,
        transaction: { ...body?.transaction, ...more },
        license: { ...body?.license, ...keys },
      };
      const came = await outcome(microsoft.validate(request as ValidationRequest));
      expect(['validated', 'InvalidPayload', 'NeedMoreData']).toContain(came);
    }),
    { numRuns: 200 },
  );
});

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
const answers = fc.oneof(
  { weight: 8, arbitrary: fc.record({ items: fc.array(item, { maxLength: 3 }) }).map((page) => JSON.stringify(page)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string() },
);

it('whatever the store answers, nothing is made of it that does not fit', async () => {
  const seen = new Map<string, number>();
  const settings = microsoft.settings('store_c');
  const period = fc.constantFrom({}, { billingPeriod: 1, billingPeriodUnit: 'Month' as const });
  const hint = fc.oneof(
    period,
    fc.record({ billingPeriod: fc.double(), billingPeriodUnit: fc.constantFrom('Day', 'Year') }),
  );
  await fc.assert(
    fc.asyncProperty(answers, fc.constantFrom(0, 1), fc.boolean(), hint, async (text, form, isItem, more) => {
      const fetch: StoreFetch = answering(() => ({ text }));
      const type = isItem ? 'non consumable' : 'paid subscription';
      const request = { ...bodies[form], type, ...more } as ValidationRequest;
      const context = { ...askingWith(fetch, settings), now: () => start };
      const came = await outcome(storeC.validate(request, context));
      expect(['validated', 'ConnectionFailed', 'NeedMoreData']).toContain(came);
      seen.set(came, (seen.get(came) ?? 0) + 1);
    }),
    { numRuns: 1_000 },
  );
  expect(seen.get('validated')).toBeGreaterThan(50);
});
