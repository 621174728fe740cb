import fc from 'fast-check';
import type { Platform } from '../lib/foundation/platform.ts';
import type { RawRow } from '../lib/import/parse-import-row.ts';
import { createUniqueName } from './given.ts';
import { ignoreRejection } from './ignore-rejection.ts';
import { toActionRequest } from './ownership-actions.ts';
import type { TestService } from './service.ts';

/** The history of one subscription at a store. */
export interface StoreHistory {
  readonly platform: Platform;
  readonly autoRenew: boolean;
  readonly period: 'P1W' | 'P1M';
  /** Members of the order in addition to the terms. */
  readonly order: object;
  /** When the customer submits the purchase to the service: before the first round, after the last one, or never. */
  readonly validates: 'first' | 'last' | 'never';
  /** The action of each round; undefined for none. */
  readonly actions: readonly (string | undefined)[];
}

/** Subscriptions that exist at the same time. */
export interface StoreHistories {
  readonly histories: readonly StoreHistory[];
  /** Stripe: status of a subscription after the last retry of a payment. */
  readonly failedPayments: string;
  /** Elements of an embedded list or a page. */
  readonly listLength: number;
  /** ISO 8601 durations by which the clock advances after each round. */
  readonly clockAdvances: readonly string[];
  /** Calls of the App Store Server API that fail while late notifications are processed. */
  readonly failedAppStoreCalls: number;
}

const commonActions = [
  'renew',
  'cancel',
  'uncancel',
  'fail-payment',
  'recover',
  'expire',
  'refund',
  'revoke',
  'change-plan',
];
const platformActions = {
  store_a: [
    ...[...commonActions, 'raise-price', 'accept-price', 'extend', 'redeem-offer', 'reverse-refund'],
    ...['restore', 'restore as of now'],
  ],
  // After a deferred plan change, Google Play returns the former product until the next renewal only.
  store_b: [...commonActions, 'pause', 'resume', 'raise-price', 'accept-price'],
  processor_a: [
    ...[...commonActions, 'pause', 'resume', 'pause-collection', 'resume-collection', 'split-payment'],
    ...['refund of the first payment', 'refund of a part', 'extra invoice', 'unpaid extra invoice', 'invoice-item'],
    ...['fail-payment', 'fail-payment', 'mark-uncollectible', 'renew by a pending debit', 'deferred change-plan'],
    ...['extend the trial', 'end the trial'],
  ],
  // Braintree does not report that a scheduled cancelation is withdrawn: a canceled subscription stays canceled.
  processor_b: [
    ...['renew', 'cancel', 'fail-payment', 'recover', 'expire', 'refund', 'revoke', 'change-plan'],
    ...['refund of a part', 'dispute', 'win-dispute'],
  ],
} as const satisfies Partial<Record<Platform, readonly string[]>>;

/** Members of orders in addition to the terms. */
const platformOrders: Readonly<Record<HistoryPlatform, readonly object[]>> = {
  store_a: [{}, { trial: 'P1W' }],
  // After the revocation of a trial, Google Play returns no order.
  store_b: [{}, { pending: true }],
  processor_a: [
    ...[{}, { trial: 'P1W' }, { pending: true }, { backdate: 'P2M' }],
    { collection: 'send_invoice', daysUntilDue: 3 },
  ],
  processor_b: [{}, { trial: 'P1W' }, { pending: true }],
};

export type HistoryPlatform = keyof typeof platformActions;

/** The platforms of the generated histories. */
export const historyPlatforms = Object.keys(platformActions) as HistoryPlatform[];

const rounds = 3;

const arbitraryHistory = (platform: HistoryPlatform): fc.Arbitrary<StoreHistory> =>
  fc.constantFrom(...platformOrders[platform]).chain((order) => {
    const payments = 'pending' in order || 'collection' in order ? ['pay', 'pay', 'pay', 'abandon'] : [];
    const actions = [...platformActions[platform], ...payments];
    return fc.record({
      platform: fc.constant(platform),
      autoRenew: fc.boolean(),
      period: fc.constantFrom('P1W', 'P1M'),
      order: fc.constant(order),
      // The validation of a nonce makes the purchase.
      validates: platform === 'processor_b' ? fc.constant('first') : fc.constantFrom('first', 'last', 'never'),
      actions: fc.array(fc.option(fc.constantFrom(...actions), { nil: undefined, freq: 5 }), {
        minLength: rounds,
        maxLength: rounds,
      }),
    });
  });

/** Generates `count` histories of each platform. */
export const arbitraryStoreHistories = (count: number): fc.Arbitrary<StoreHistories> =>
  fc.record({
    histories: fc.tuple(
      ...historyPlatforms.flatMap((platform) => Array.from({ length: count }, () => arbitraryHistory(platform))),
    ),
    failedPayments: fc.constantFrom('cancel', 'unpaid', 'past_due'),
    listLength: fc.constantFrom(2, 100),
    // In total less than 60 days: Google Play deletes an expired subscription 60 days after its end.
    clockAdvances: fc.array(fc.constantFrom('PT1H', 'P3D', 'P8D', 'P14D'), { minLength: rounds, maxLength: rounds }),
    failedAppStoreCalls: fc.constantFrom(0, 10, 1e4),
  });

/** A subscription at the emulated store during its history. */
export interface RunningHistory {
  readonly history: StoreHistory;
  /** Performs the action of a round, unless the store rejects it in the current state. */
  act(round: number): Promise<void>;
  /** Returns the body for `POST /v1/validate` with the current evidence. */
  // biome-ignore lint/suspicious/noExplicitAny: the evidence of each store has another shape.
  getEvidence(): Promise<any>;
  /** Returns the row of an import file with the purchase. */
  getImportRow(): Promise<RawRow>;
  /** Returns the ids that the store's objects have, with platform. A plan change of Google Play adds one. */
  getPurchaseIds(): readonly string[];
  /** Cancels or ends the subscription, so that later clock advances change nothing. */
  end(): Promise<void>;
}

/** Prices of the plans after a change: an upgrade and a downgrade. */
const prices = [7_990_000, 2_490_000] as const;

/** Buys the subscription of a history. */
export async function startHistory(history: StoreHistory, service: TestService): Promise<RunningHistory> {
  const { platform, autoRenew, period, order } = history;
  const isBraintree = platform === 'processor_b';
  // The merchant's plans have their own period.
  const productIds = isBraintree ? (['monthly', 'basic'] as const) : ([`first ${period}`, `other ${period}`] as const);
  const planPeriod = isBraintree ? {} : { period };
  const terms = { type: 'paid subscription', autoRenew, ...planPeriod, acknowledged: true };
  const purchase = await service.callControl('/purchases', {
    ...{ platform, productId: productIds[0], ...terms, ...order },
    applicationUsername: createUniqueName('user'),
  });
  let { id } = purchase as { id: string };
  const ids = new Set([id]);
  let planChanges = 0;
  /** Returns false if the store rejected the action. */
  const perform = async (action: string, details: object = {}): Promise<boolean> => {
    const result = await service
      .callControl(`/purchases/${id}/${action}`, details)
      .catch(ignoreRejection(400, 404, 409, 422));
    id = result?.id ?? id;
    ids.add(id);
    return result !== undefined;
  };
  return {
    history,
    async act(round) {
      const name = history.actions[round];
      if (name === undefined) return;
      const { action, details } = toActionRequest(name);
      if (action !== 'change-plan') return void (await perform(action, details));
      const plan = { productId: productIds[(planChanges + 1) % 2], ...planPeriod, priceMicros: prices[round % 2] };
      if (await perform(action, { ...details, ...plan })) planChanges++;
    },
    getEvidence: async () => (await service.callControl(`/purchases/${id}`)).validate,
    getImportRow: async () => {
      const { purchaseId: token, productId, applicationUsername: user } = await service.callControl(`/purchases/${id}`);
      return { platform, token, productId: `${platform}:${productId}`, user };
    },
    getPurchaseIds: () => [...ids].map((storeId) => `${platform}:${storeId}`),
    end: async () => void ((await perform('cancel')) || (await perform('expire'))),
  };
}
