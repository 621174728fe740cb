import { describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { findLifecycleReasons, type StateAt } from '../../../../lib/purchases/lifecycle-reasons.ts';
import { merge, type PurchaseState } from '../../../../lib/purchases/merge.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { appStore } from '../../../../lib/stores/app-store/app-store.ts';
import {
  buildOneTimePayload,
  buildRenewalPayload,
  buildTransactionPayload,
  bundleId,
  purchaseDate,
} from '../../../../testing/apple-payloads.ts';
import { createPki } from '../../../../testing/apple-pki.ts';
import { encodeReceipt, signMessage } from '../../../../testing/apple-signatures.ts';
import { createContext, jsonResponse, validateSignedTransaction } from '../../../../testing/fake-apple.ts';
import { observeNotification, signatureOnly } from './notification-fixture.ts';

const validatedAt = purchaseDate + 20 * dayMs;
const atEvidenceOnly = { context: { ...signatureOnly, now: () => validatedAt } };
const rsa = createPki({ kind: 'rsa' });

const bySignature = async (payload: object) =>
  (
    await validateSignedTransaction({}, payload, {
      context: { settings: signatureOnly.settings, now: () => validatedAt },
    })
  ).observations;

/** The response of the App Store Server API lists the transactions of all devices. */
const byApi = async (...transactions: readonly object[]) => {
  const [latest] = transactions;
  const customer = {
    transactions,
    statuses: [{ status: 1, transaction: latest ?? {}, renewal: buildRenewalPayload({ signedDate: validatedAt }) }],
  };
  return (await validateSignedTransaction(customer, latest, { context: { now: () => validatedAt } })).observations;
};

/** verifyReceipt, with a shared secret. */
const byReceipt = async (...records: readonly object[]) => {
  const appStoreReceipt = signMessage(
    encodeReceipt({ 0: 'Production', 2: bundleId, 12: new Date(purchaseDate) }),
    rsa,
  ).toString('base64');
  const receipt = { bundle_id: bundleId, request_date_ms: String(validatedAt), in_app: records };
  const validation = await appStore.validate(
    { id: bundleId, type: 'application', transaction: { appStoreReceipt } },
    createContext({
      fetch: async () => jsonResponse(200, { status: 0, environment: 'Production', receipt }),
      settings: { bundleId, sharedSecret: 'secret' },
      extraRoots: [rsa.root.der],
      now: () => validatedAt,
    }),
  );
  return validation.observations;
};

const buildRecord = (changes: object = {}) => ({
  product_id: 'monthly',
  transaction_id: '1001',
  original_transaction_id: '1001',
  purchase_date_ms: String(purchaseDate),
  original_purchase_date_ms: String(purchaseDate),
  ...changes,
});
const expiry = { expires_date_ms: String(purchaseDate + 31 * dayMs) };

const buildSubscription = (changes: object = {}) =>
  buildTransactionPayload({ webOrderLineItemId: '500', signedDate: purchaseDate + dayMs, ...changes });
const buildLifetime = (changes: object = {}) => buildOneTimePayload('Non-Consumable', changes);
const restoredDate = purchaseDate + 9 * dayMs;

interface Recorded {
  readonly states: ReadonlyMap<string, PurchaseState>;
  readonly reasons: readonly string[];
}

/** Records observations like the service, in the order in which they arrive. */
function record(observations: readonly Observation[]): Recorded {
  const states = new Map<string, StateAt>();
  const reasons: string[] = [];
  for (const { refreshToken: _token, ...observation } of observations) {
    const { purchaseId } = observation.purchase;
    const before = states.get(purchaseId);
    const after = { state: merge(before?.state, observation), at: validatedAt };
    reasons.push(...findLifecycleReasons(before, after));
    states.set(purchaseId, after);
  }
  return { states: new Map([...states].map(([id, { state }]) => [id, state])), reasons };
}

const listPayments = ({ states }: Recorded) =>
  [...states.values()].flatMap(({ transactions }) =>
    transactions.map(({ transaction: { transactionId, purchaseDate: date, amountMicros } }) => ({
      transactionId,
      date,
      amountMicros,
    })),
  );

const permute = <T>(values: readonly T[]): T[][] =>
  values.length <= 1
    ? [[...values]]
    : values.flatMap((value, index) => permute(values.toSpliced(index, 1)).map((rest) => [value, ...rest]));

describe('sale of the App Store under several transaction ids', () => {
  it.each<[string, () => Promise<Observation[][]>]>([
    [
      'a subscription on two devices, by signed transactions without an API key',
      async () => [
        [...(await bySignature(buildSubscription()))],
        [...(await bySignature(buildSubscription({ transactionId: '1002', signedDate: validatedAt })))],
      ],
    ],
    [
      'a subscription that API, receipt and notification list under ids of their own',
      async () => [
        [...(await byApi(buildSubscription({ transactionId: '1003' }), buildSubscription()))],
        [...(await byReceipt(buildRecord({ ...expiry, transaction_id: '1002', web_order_line_item_id: '500' })))],
        [
          ...(
            await observeNotification(
              { type: 'DID_RENEW', transaction: buildSubscription({ transactionId: '1004' }) },
              atEvidenceOnly.context,
            )
          ).observations,
        ],
      ],
    ],
    [
      'a non-consumable that is restored on three dates',
      async () => [
        [...(await bySignature(buildLifetime()))],
        [...(await bySignature(buildLifetime({ transactionId: '1002', purchaseDate: restoredDate })))],
        [...(await bySignature(buildLifetime({ transactionId: '1003', purchaseDate: restoredDate + dayMs })))],
      ],
    ],
    [
      'a non-consumable of a classic receipt, whose restored transaction has another id',
      async () => [
        [...(await bySignature(buildLifetime()))],
        [
          ...(await byReceipt(
            buildRecord({
              product_id: 'non-consumable',
              transaction_id: '1002',
              purchase_date_ms: String(restoredDate),
              web_order_line_item_id: '0',
            }),
          )),
        ],
      ],
    ],
  ])('becomes one payment and one purchase in any order: %s', async (_case, observe) => {
    const observations = await observe();
    for (const order of permute(observations)) {
      const recorded = record([...order, ...order].flat());
      expect(listPayments(recorded)).toEqual([
        { transactionId: 'store_a:1001', date: purchaseDate, amountMicros: 4_990_000 },
      ]);
      expect([...recorded.states.values()].map(({ purchase }) => purchase.transactionId)).toEqual(['store_a:1001']);
      expect(recorded.reasons).toEqual(['PURCHASED']);
    }
  });

  it('keeps the date of the first transaction for a subscription that is restored with another date', async () => {
    const first = await bySignature(buildSubscription());
    const restored = await bySignature(buildSubscription({ transactionId: '1002', purchaseDate: restoredDate }));
    expect(record([...first, ...restored]).reasons).toEqual(['PURCHASED']);
    for (const order of [
      [...first, ...restored],
      [...restored, ...first],
    ])
      expect(listPayments(record(order))).toEqual([
        { transactionId: 'store_a:1001', date: purchaseDate, amountMicros: 4_990_000 },
      ]);
  });

  it('becomes one purchase if the service has never received the first transaction of a restored non-consumable', async () => {
    const restored = await bySignature(buildLifetime({ transactionId: '1003', purchaseDate: restoredDate }));
    expect(listPayments(record(restored))).toEqual([
      { transactionId: 'store_a:1001', date: purchaseDate, amountMicros: 4_990_000 },
    ]);
  });

  it.each(['Consumable', 'Non-Renewing Subscription'] as const)('keeps each payment of a %s separate', async (type) => {
    const first = await bySignature(buildOneTimePayload(type));
    const second = await bySignature(buildOneTimePayload(type, { transactionId: '1002', purchaseDate: restoredDate }));
    expect(listPayments(record([...first, ...second]))).toHaveLength(2);
  });

  it('keeps the periods of a subscription separate, which have their own line items', async () => {
    const renewal = { transactionId: '1002', webOrderLineItemId: '501', purchaseDate: purchaseDate + 31 * dayMs };
    const first = await bySignature(buildSubscription());
    const second = await bySignature(buildSubscription({ ...renewal, expiresDate: purchaseDate + 62 * dayMs }));
    expect(listPayments(record([...second, ...first]))).toHaveLength(2);
  });

  it('returns the requested purchase for the id of a restored transaction', async () => {
    const validation = await validateSignedTransaction(
      {},
      buildLifetime({ transactionId: '1003', purchaseDate: restoredDate }),
      {
        request: { id: 'non-consumable', type: 'non consumable' },
        context: { settings: signatureOnly.settings, now: () => validatedAt },
      },
    );
    expect(validation.purchaseId).toBe('store_a:1001');
  });
});
