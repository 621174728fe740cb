import fc from 'fast-check';
import type { Catalogue } from '../lib/apps/catalogue.ts';
import type { Platform } from '../lib/foundation/platform.ts';
import { createUniqueName } from './given.ts';
import { ignoreRejection } from './ignore-rejection.ts';
import {
  isRefund,
  isReversal,
  listOneTimeActions,
  listSubscriptionActions,
  toActionRequest,
} from './ownership-actions.ts';
import {
  buildVariantDetails,
  buildVariantOrder,
  type LineProducts,
  type Variant,
  variantsByPlatform,
} from './ownership-variants.ts';
import type { PurchaseSummary } from './purchase-summary.ts';
import type { TestService } from './service.ts';

/** What a client does in a round: it validates its evidence, with another product or while the store is down before. */
export type Round = 'validation' | 'no validation' | 'wrong product' | 'outage';

/** The history of one purchase at a store. */
export interface OwnershipHistory {
  readonly platform: Platform;
  readonly type: 'paid subscription' | 'non consumable' | 'consumable';
  readonly variant: Variant;
  readonly period: 'P1W' | 'P1M' | 'P1Y';
  /** Percentage of the tax. */
  readonly taxRate: number | undefined;
  readonly autoRenew: boolean;
  readonly trial: boolean;
  /** The first period has half the price. */
  readonly intro: boolean;
  readonly pending: boolean;
  readonly sandbox: boolean;
  readonly rounds: readonly Round[];
  /** The action between two rounds; undefined for none. */
  readonly actions: readonly (string | undefined)[];
}

/** The product is rented. The period of a one-time product has only this effect. */
export const isRental = ({ platform, type, period }: OwnershipHistory): boolean =>
  platform === 'store_b' && type === 'non consumable' && period === 'P1Y';

/** How the notifications of a round arrive: at once, never, with the next round, twice, or in reverse order. */
export type Delivery = 'punctual' | 'lost' | 'late' | 'doubled' | 'reversed';

export interface OwnershipHistories {
  readonly histories: readonly OwnershipHistory[];
  /** Settings of the developer's accounts. */
  readonly accountSettings: {
    /** Stripe: status of a subscription after the last retry of a payment. */
    readonly failedPayments: string;
    /** Elements of an embedded list or a page. */
    readonly listLength: number;
  };
  /** The delivery of each round. */
  readonly deliveries: readonly Delivery[];
  /** ISO 8601 durations by which the clock advances before each round. */
  readonly clockAdvances: readonly string[];
}

export const ownershipPlatforms = [
  'store_a',
  'store_b',
  'store_c',
  'processor_a',
  'service_processor_a',
  'processor_b',
] as const satisfies readonly Platform[];

const seatActions = ['assign-seat', 'remove-seat'];

/** The stores whose purchases can be pending. */
const pendingPlatforms: readonly Platform[] = ['store_b', 'processor_a', 'processor_b'];

/** The stores on which a subscription can start with a trial. */
const trialPlatforms: readonly Platform[] = ['store_a', 'store_b', 'processor_a', 'processor_b'];

/** The stores on which a subscription can start with an introductory price. */
const introPlatforms: readonly Platform[] = ['store_a', 'store_b'];

/** The stores whose emulated accounts sell in the sandbox too. */
const sandboxPlatforms: readonly Platform[] = ['store_b'];

/** The stores whose weekly subscriptions have several unpaid periods in a history. */
const weeklyPlatforms: readonly Platform[] = ['processor_a', 'service_processor_a'];

/** The stores whose prices can have a tax. */
const taxPlatforms: readonly Platform[] = ['store_b', 'processor_a', 'service_processor_a', 'processor_b'];

/** The plans with committed payments, which are monthly. */
const monthlyVariants: readonly Variant[] = ['commitment', 'installments'];

const roundCount = 5;

const arbitraryHistory = (platform: (typeof ownershipPlatforms)[number]): fc.Arbitrary<OwnershipHistory> =>
  fc
    .record({
      type: fc.constantFrom('paid subscription' as const, 'paid subscription' as const, 'non consumable' as const),
      isPending: fc.nat(2).map((number) => number === 0),
      offer: fc.constantFrom('trial', 'intro', undefined, undefined),
      isSandbox: fc.nat(3).map((number) => number === 0),
      variantNumber: fc.nat(5),
    })
    .chain(({ type, isPending, offer, isSandbox, variantNumber }) => {
      const variants = (type === 'paid subscription' && variantsByPlatform[platform]) || [];
      const variant = variants[variantNumber] ?? 'plain';
      const pending = isPending && pendingPlatforms.includes(platform) && variant === 'plain';
      const hasOffers = type === 'paid subscription' && variant === 'plain' && !pending;
      const isWeekly = type === 'paid subscription' && weeklyPlatforms.includes(platform);
      const actions = [
        ...(type === 'paid subscription' ? listSubscriptionActions(platform, variant) : listOneTimeActions(platform)),
        ...(pending ? ['pay', 'pay', 'pay', 'abandon'] : []),
      ];
      return fc.record({
        platform: fc.constant(platform),
        type: fc.constant(type),
        variant: fc.constant(variant),
        period: fc.constantFrom('P1M', isWeekly ? 'P1W' : 'P1M', 'P1Y'),
        taxRate: taxPlatforms.includes(platform) ? fc.constantFrom(undefined, 8.875, 20) : fc.constant(undefined),
        autoRenew: fc.boolean(),
        trial: fc.constant(hasOffers && offer === 'trial' && trialPlatforms.includes(platform)),
        intro: fc.constant(hasOffers && offer === 'intro' && introPlatforms.includes(platform)),
        pending: fc.constant(pending),
        sandbox: fc.constant(isSandbox && sandboxPlatforms.includes(platform)),
        rounds: fc.array(
          fc.constantFrom<Round>('validation', 'validation', 'no validation', 'wrong product', 'outage'),
          {
            minLength: roundCount,
            maxLength: roundCount,
          },
        ),
        actions: fc.array(fc.option(fc.constantFrom(...actions), { nil: undefined, freq: 4 }), {
          minLength: roundCount - 1,
          maxLength: roundCount - 1,
        }),
      });
    });

/** Generates `count` histories of each platform, which run at the same time. */
export const arbitraryOwnershipHistories = (count: number): fc.Arbitrary<OwnershipHistories> =>
  fc.record({
    histories: fc.tuple(
      ...ownershipPlatforms.flatMap((platform) => Array.from({ length: count }, () => arbitraryHistory(platform))),
    ),
    accountSettings: fc.record({
      failedPayments: fc.constantFrom('cancel', 'unpaid', 'past_due'),
      listLength: fc.constantFrom(2, 100),
    }),
    // In total less than 60 days: Google Play deletes an expired subscription 60 days after its end.
    clockAdvances: fc.array(fc.constantFrom('PT1H', 'P3D', 'P8D', 'P12D'), {
      minLength: roundCount,
      maxLength: roundCount,
    }),
    deliveries: fc.array(fc.constantFrom<Delivery>('punctual', 'lost', 'late', 'doubled', 'reversed'), {
      minLength: roundCount,
      maxLength: roundCount,
    }),
  });

/** A purchase at the emulated store during its history. */
export interface OwnedPurchase {
  readonly history: OwnershipHistory;
  readonly platform: Platform;
  readonly username: string;
  /** The customer, and the members to whom seats of the purchase are assigned. */
  readonly usernames: readonly string[];
  /** The emulated merchant of Braintree is in the sandbox. */
  readonly isSandbox: boolean;
  /** A product of the store that the customer did not buy. */
  readonly wrongProductId: string;
  /** Performs the action after a round, unless the store rejects it in the current state. */
  act(round: number): Promise<void>;
  getSummary(): Promise<PurchaseSummary>;
  /** Returns the summaries of all purchases of the history. A plan change of Google Play starts another purchase. */
  listSummaries(): Promise<readonly PurchaseSummary[]>;
  /** Returns the body for `POST /v1/validate` with the current evidence. */
  // biome-ignore lint/suspicious/noExplicitAny: the evidence of each store has another shape.
  getEvidence(): Promise<any>;
  isFirstPeriodPending(): boolean;
  /** A payment was refunded or charged back. */
  isMoneyReturned(): boolean;
  /** Counts the accepted actions that return money or end the purchase without the customer. */
  countReversals(): number;
  /** Marks the purchase as validated in a state at the store. */
  markValidated(summary: PurchaseSummary): void;
  wasValidated(): boolean;
  /** Returns the payments before the first validation that the store does not report, in micros. */
  getUnreportedMicros(): number;
  /** The history with the actions that the store accepted, for error messages. */
  describe(): object;
  /** Cancels or ends the purchase, so that later clock advances change nothing. */
  end(): Promise<void>;
}

/** Makes the purchase of a history. */
export async function startOwnership(history: OwnershipHistory, service: TestService): Promise<OwnedPurchase> {
  const { platform, type, variant, autoRenew, trial, intro, pending, sandbox, taxRate } = history;
  const period = monthlyVariants.includes(variant) ? 'P1M' : history.period;
  const username = createUniqueName('user');
  const member = createUniqueName('member');
  const { first, other, wrong, ...lineProducts } = chooseProductIds({ platform, type, period });
  const order = {
    platform,
    // The service acknowledges the others.
    acknowledged: autoRenew,
    productId: first,
    type,
    applicationUsername: username,
    ...(type === 'paid subscription' && {
      autoRenew: autoRenew && variant !== 'prepaid',
      ...(trial && { trial: 'P1W' }),
      ...(intro && { intro }),
    }),
    ...(type === 'paid subscription' && platform !== 'processor_b' && { period }),
    ...(pending && { pending }),
    ...(sandbox && { sandbox }),
    ...(taxRate !== undefined && { taxRate }),
    ...buildVariantOrder(platform, variant, lineProducts),
    ...(isRental(history) && { rentalPeriod: 'P8D' }),
  };
  let { id } = (await service.callControl('/purchases', order)) as { id: string };
  const ids = new Set([id]);
  const accepted: string[] = [];
  let planChanges = 0;
  let isValidated = false;
  let unreportedMicros = 0;
  const perform = async (action: string, details: object = {}): Promise<boolean> => {
    const result = await service
      .callControl(`/purchases/${id}/${action}`, details)
      .catch(ignoreRejection(400, 404, 409, 422));
    ids.add(result?.id ?? id);
    // The result of an action on a seat is the purchase of the member.
    if (!seatActions.includes(action)) id = result?.id ?? id;
    return result !== undefined;
  };
  const getPurchase = async () =>
    await service.callControl(`/purchases/${id}${platform === 'store_a' ? '?form=product' : ''}`);
  return {
    history,
    platform,
    username,
    usernames: variant === 'seats' ? [username, member] : [username],
    isSandbox: sandbox || platform === 'processor_b',
    wrongProductId: wrong,
    async act(round) {
      const name = history.actions[round];
      if (name === undefined) return;
      const { action, details } = toActionRequest(name);
      const isPlanChange = action === 'change-plan';
      const plan = {
        productId: planChanges % 2 === 0 ? other : first,
        priceMicros: round % 2 === 0 ? 7_990_000 : 2_490_000,
        ...(platform !== 'processor_b' && { period }),
      };
      const isAccepted = await perform(
        action,
        isPlanChange ? { ...details, ...plan } : { ...details, ...buildVariantDetails(action, lineProducts, member) },
      );
      if (!isAccepted) return;
      accepted.push(name);
      if (isPlanChange) planChanges++;
    },
    getSummary: getPurchase,
    listSummaries: async () =>
      await Promise.all([...ids].map(async (purchaseId) => await service.callControl(`/purchases/${purchaseId}`))),
    getEvidence: async () => (await getPurchase()).validate,
    isFirstPeriodPending: () => pending && !accepted.includes('pay'),
    countReversals: () => accepted.filter(isReversal).length,
    isMoneyReturned: () => accepted.some(isRefund),
    markValidated(summary) {
      if (!isValidated) unreportedMicros = computeUnreportedMicros(platform, summary);
      isValidated = true;
    },
    wasValidated: () => isValidated,
    getUnreportedMicros: () => unreportedMicros,
    describe: () => ({ ...history, id, username, accepted: [...accepted] }),
    end: async () => void ((await perform('cancel')) || (await perform('expire'))),
  };
}

/**
 * Computes the payments before the current period, which the Microsoft Store does not report. Its prices are constant.
 *
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/get-subscriptions-for-a-user
 */
const computeUnreportedMicros = (platform: Platform, { paidMicros, transactions }: PurchaseSummary): number =>
  platform === 'store_c' ? paidMicros - paidMicros / transactions : 0;

/** Builds a catalogue whose products give the entitlement. The wrong products are not in it. */
export function buildOwnershipCatalogue(entitlement: string): Catalogue {
  const types = ['paid subscription', 'non consumable'] as const;
  const kinds = ownershipPlatforms.flatMap((platform) =>
    types.flatMap((type) => (['P1W', 'P1M', 'P1Y'] as const).map((period) => ({ platform, type, period }))),
  );
  return Object.fromEntries(
    kinds.flatMap(({ type, ...kind }) => {
      const { first, other, bought, added } = chooseProductIds({ type, ...kind });
      const product = { type, entitlements: [entitlement] };
      return [first, other, bought, added].map((id) => [`${kind.platform}:${id}`, product]);
    }),
  );
}

interface ProductIds extends LineProducts {
  readonly first: string;
  readonly other: string;
  readonly wrong: string;
}

/** Ids in the format of the store: two plans of one group, two other products, and one that is never bought. */
function chooseProductIds({
  platform,
  type,
  period,
}: Pick<OwnershipHistory, 'platform' | 'type' | 'period'>): ProductIds {
  const kind = type === 'paid subscription' ? period : 'lifetime';
  // The app's settings contain these products.
  if (platform === 'processor_b') {
    const lines = { bought: 'unused_1', added: 'unused_2' };
    return kind === 'lifetime'
      ? { first: 'full_version', other: 'coins', wrong: 'tip_jar', ...lines }
      : { first: 'monthly', other: 'basic', wrong: 'premium', ...lines };
  }
  const prefix = platform === 'store_c' ? `9NBLGGH5${{ P1W: 'W', P1M: 'M', P1Y: 'Y', lifetime: 'L' }[kind]}00` : kind;
  return {
    first: `${prefix}A`,
    other: `${prefix}B`,
    wrong: `${prefix}C`,
    bought: `${prefix}D`,
    added: `${prefix}E`,
  };
}
