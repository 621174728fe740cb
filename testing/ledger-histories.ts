import fc from 'fast-check';
import { omitUndefined } from '../lib/foundation/omit-undefined.ts';
import type { Platform } from '../lib/foundation/platform.ts';
import { createUniqueName } from './given.ts';
import { ignoreRejection } from './ignore-rejection.ts';
import type { TestService } from './service.ts';

/** An action of the control API with its body. */
interface LedgerAction {
  readonly action: string;
  readonly [detail: string]: unknown;
}

/** The terms of a subscription, and what happens to it after each move of the clock. */
export interface LedgerHistory {
  readonly platform: Platform;
  readonly product: string;
  readonly trial: string | undefined;
  readonly taxRate: number | undefined;
  readonly collection: string | undefined;
  readonly actions: readonly (LedgerAction | undefined)[];
}

export interface LedgerRun {
  readonly histories: readonly LedgerHistory[];
  /** Status of a subscription after the last retry of a payment. */
  readonly failedPayments: 'cancel' | 'unpaid' | 'past_due';
  /** Days by which the clock moves in each round. */
  readonly advances: readonly number[];
}

/** Subscriptions by id, with their price in US dollars. 20 % of a price are whole cents. */
export const ledgerProducts: Readonly<Record<string, { readonly priceMicros: number; readonly period: string }>> = {
  basic: { priceMicros: 9_950_000, period: 'P1M' },
  pro: { priceMicros: 19_950_000, period: 'P1M' },
  weekly: { priceMicros: 3_450_000, period: 'P1W' },
  quarterly: { priceMicros: 24_500_000, period: 'P3M' },
};

const rounds = 7;
const arbitraryProduct = fc.constantFrom(...Object.keys(ledgerProducts));
const arbitraryPart = fc.integer({ min: 1, max: 300 }).map((cents) => cents * 10_000);

const arbitraryPayment = fc.constantFrom('last', 1, 2);
const act = (action: string, details: Record<string, fc.Arbitrary<unknown>> = {}): fc.Arbitrary<LedgerAction> =>
  fc.record({ action: fc.constant(action), ...details }) as fc.Arbitrary<LedgerAction>;
const changePlan = arbitraryProduct.map((productId) => ({
  action: 'change-plan',
  productId,
  ...ledgerProducts[productId],
}));

const commonActions: readonly fc.Arbitrary<LedgerAction>[] = [
  act('cancel'),
  act('uncancel'),
  act('split-payment'),
  act('refund', { payment: arbitraryPayment, amountMicros: arbitraryPart }),
  act('refund-outside', { amountMicros: arbitraryPart }),
  act('dispute', { payment: arbitraryPayment }),
  act('win-dispute'),
  act('extra-invoice', { priceMicros: arbitraryPart }),
  act('move-trial', { end: fc.constantFrom('now', 'P1W', 'P1M') }),
];
const failures = [act('fail-payment'), act('recover'), act('recover')];
const fullRefund = act('refund', { payment: arbitraryPayment });

/** Actions at Stripe. */
const stripeVariants = {
  plain: [...commonActions, ...failures, fullRefund, fullRefund],
  'plan changes': [...commonActions, ...failures, fullRefund, ...Array.from({ length: 5 }, () => changePlan)],
  emailed: [...commonActions, fullRefund, ...Array.from({ length: 8 }, () => act('pay'))],
};

const listActions = (actions: readonly fc.Arbitrary<LedgerAction>[]): fc.Arbitrary<LedgerHistory['actions']> =>
  fc.array(fc.option(fc.oneof(...actions), { nil: undefined, freq: 3 }), { minLength: rounds, maxLength: rounds });

const arbitraryStripeHistory: fc.Arbitrary<LedgerHistory> = fc
  .constantFrom<keyof typeof stripeVariants>('plain', 'plan changes', 'emailed')
  .chain((variant) =>
    fc.record({
      platform: fc.constant('processor_a' as const),
      product: arbitraryProduct,
      trial: fc.constantFrom(undefined, undefined, 'P1W', 'P1M'),
      // Stripe does not report the rate of a tax: the tax of a plan is known to the cent if its tax is not rounded.
      taxRate: fc.constantFrom(undefined, variant === 'plan changes' ? 20 : 8.875, 20),
      collection: fc.constant(variant === 'emailed' ? ('send_invoice' as const) : undefined),
      actions: listActions(stripeVariants[variant]),
    }),
  );

const storeActions = [
  act('cancel'),
  act('uncancel'),
  fullRefund,
  act('refund', { amountMicros: arbitraryPart }),
  act('revoke'),
  changePlan,
  changePlan,
];

/** The emulated App Store cuts the period of a payment that fails early: its length differs from the plan. */
const actionsByStore = {
  store_a: [...storeActions, act('extend', { period: fc.constantFrom('P10D', 'P1M') })],
  store_b: [...storeActions, act('expire'), act('fail-payment', { grace: fc.constant(false) }), act('recover')],
};

const arbitraryStoreHistory: fc.Arbitrary<LedgerHistory> = fc
  .constantFrom('store_a' as const, 'store_b' as const)
  .chain((platform) =>
    fc.record({
      platform: fc.constant(platform),
      product: arbitraryProduct,
      trial: fc.constantFrom(undefined, undefined, 'P1W', 'P1M'),
      taxRate: platform === 'store_b' ? fc.constantFrom(undefined, 8.875, 20) : fc.constant(undefined),
      collection: fc.constant(undefined),
      actions: listActions(actionsByStore[platform]),
    }),
  );

export const arbitraryLedgerRun: fc.Arbitrary<LedgerRun> = fc.record({
  histories: fc.array(fc.oneof(arbitraryStripeHistory, arbitraryStoreHistory), { minLength: 1, maxLength: 6 }),
  failedPayments: fc.constantFrom('cancel', 'unpaid', 'past_due'),
  advances: fc.array(fc.integer({ min: 5, max: 28 }), { minLength: rounds, maxLength: rounds }),
});

const wait = undefined;

/** The credit of a quarter pays months of a second plan, and the quarter is refunded meantime. */
export const refundedCredit: LedgerRun = {
  histories: [
    {
      platform: 'processor_a',
      product: 'quarterly',
      trial: undefined,
      taxRate: 20,
      collection: undefined,
      actions: [
        { action: 'change-plan', productId: 'basic', ...ledgerProducts.basic },
        { action: 'refund', payment: 1 },
        wait,
        wait,
        wait,
        wait,
        wait,
      ],
    },
  ],
  failedPayments: 'cancel',
  advances: [5, 20, 20, 20, 20, 20, 20],
};

/** A subscription at an emulated store. */
export interface LedgerPurchase {
  /** Performs the action of a round, unless the store rejects it in the current state. */
  act(round: number): Promise<void>;
  /** The body for `POST /v1/validate`. */
  readonly evidence: object;
  /** Returns the records of the store. */
  readLedger(): Promise<object[]>;
}

/** Buys the subscription of a history. */
export async function buySubscription(history: LedgerHistory, service: TestService): Promise<LedgerPurchase> {
  const { platform, product, actions, trial, taxRate, collection } = history;
  const { id, validate } = await service.callControl('/purchases', {
    platform,
    productId: product,
    type: 'paid subscription',
    applicationUsername: createUniqueName('user'),
    autoRenew: true,
    ...(platform === 'store_b' && { acknowledged: true }),
    ...ledgerProducts[product],
    ...omitUndefined({ trial, taxRate, collection }),
  });
  // The change of a plan at Google Play starts another purchase.
  const ids: string[] = [id];
  const readRecords = async (of: string | undefined) => await service.callControl(`/purchases/${of}`);
  return {
    evidence: validate,
    async act(round) {
      const { action, ...details } = actions[round] ?? {};
      if (action === undefined) return;
      const { state } = await readRecords(ids.at(-1));
      // Google Play does not report the refund of a part of a subscription that has ended. The records of the App Store
      // have one refund of a transaction.
      if ((action === 'refund' || action === 'revoke') && (state === 'EXPIRED' || state === 'REVOKED')) return;
      const result = await service
        .callControl(`/purchases/${ids.at(-1)}/${action}`, details)
        .catch(ignoreRejection(404, 409, 422));
      if (result !== undefined && !ids.includes(result.id)) ids.push(result.id);
    },
    readLedger: async () =>
      await Promise.all(
        ids.map(async (each) => {
          const { validate: _evidence, notifications: _messages, ...records } = await readRecords(each);
          return { ...records, platform };
        }),
      ),
  };
}
