import { type Catalogue, findCatalogueProduct } from '../apps/catalogue.ts';
import { platformTokens } from '../foundation/platform.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { isExpired, type Purchase } from '../purchases/purchase.ts';
import type { OpenIapState } from './contract.ts';

interface StateContext {
  readonly now: EpochMillis;
  readonly catalogue: Catalogue | undefined;
  /** The latest transaction was refunded in full. */
  readonly isRefunded: boolean;
}

type StateRule = readonly [
  state: OpenIapState,
  applies: (purchase: Purchase, context: StateContext) => boolean | undefined,
];

/**
 * States by the first rule that applies. Auto-renewal that is off does not change the state, and CANCELED means
 * refunded, revoked or never paid.
 */
const stateRules: readonly StateRule[] = [
  ['CANCELED', ({ isAbandoned }) => isAbandoned],
  ['CANCELED', (purchase, { now }) => hasEnded(purchase, now) && !isSystemEnd(purchase)],
  ['EXPIRED', (purchase, { now }) => hasEnded(purchase, now)],
  ['PENDING', ({ isPending, isPaused }) => isPending || isPaused],
  ['PENDING', (purchase, { now }) => isOnHold(purchase, now)],
  ['CANCELED', (purchase, { now, isRefunded }) => isExpired(purchase, now) && isRefunded && !isSystemEnd(purchase)],
  ['EXPIRED', (purchase, { now }) => isExpired(purchase, now)],
  ['CONSUMED', ({ isConsumed }) => isConsumed],
  ['READY_TO_CONSUME', (purchase, { catalogue }) => isConsumable(purchase, catalogue)],
  ['PENDING_ACKNOWLEDGMENT', ({ platform, isAcknowledged }) => isGooglePlay(platform) && isAcknowledged === false],
  ['ENTITLED', () => true],
];

const validStates: ReadonlySet<OpenIapState> = new Set(['ENTITLED', 'PENDING_ACKNOWLEDGMENT', 'READY_TO_CONSUME']);

export const isValidState = (state: OpenIapState): boolean => validStates.has(state);

/** Converts the state of a purchase to the state of OpenIAP. */
export const toOpenIapState = (purchase: Purchase, context: StateContext): OpenIapState =>
  stateRules.find(([, applies]) => applies(purchase, context))?.[0] ?? 'UNKNOWN';

const isGooglePlay = (platform: Purchase['platform']): boolean => platform === platformTokens.googlePlay;

const hasEnded = ({ endedAt }: Purchase, now: EpochMillis): boolean => endedAt !== undefined && endedAt <= now;

/** Another purchase replaced it, or its data is deleted, without a refund. */
const isSystemEnd = ({ cancelationReason }: Purchase): boolean =>
  cancelationReason === 'System.Replaced' || cancelationReason === 'System.Deleted';

/**
 * The payment failed, and the grace period is over.
 * @see https://developer.android.com/google/play/billing/lifecycle/subscriptions#account-hold
 */
const isOnHold = (purchase: Purchase, now: EpochMillis): boolean | undefined =>
  isGooglePlay(purchase.platform) && isExpired(purchase, now) && purchase.isBillingRetryPeriod;

/**
 * Google Play does not report whether a product is a consumable, and clients reject other products in the state
 * READY_TO_CONSUME. So only the catalogue decides there.
 */
const isConsumable = ({ platform, productId, productType }: Purchase, catalogue: Catalogue | undefined): boolean =>
  (isGooglePlay(platform) ? findCatalogueProduct(catalogue, productId)?.type : productType) === 'consumable';
