import { dayMs } from '../../../../lib/foundation/time.ts';
import { buildRenewalPayload, buildTransactionPayload, purchaseDate } from '../../../../testing/apple-payloads.ts';
import { type Customer, createSubscriber } from '../../../../testing/fake-apple.ts';
import type { NotificationInput } from './notification-fixture.ts';

export const lifeActions = [
  'wait',
  'renew',
  'upgrade',
  'cancel',
  'uncancel',
  'raise price',
  'expire',
  'resubscribe',
  'refund latest',
  'refund first',
] as const;
export type LifeAction = (typeof lifeActions)[number];

/** Content of a signed transaction, as far as a life changes it. */
interface Period {
  readonly transactionId: string;
  readonly productId: string;
  readonly purchaseDate: number;
  readonly expiresDate: number;
  readonly transactionReason: 'PURCHASE' | 'RENEWAL';
  readonly isUpgraded?: true;
  readonly revocationDate?: number;
  readonly revocationReason?: 0;
}

interface SubscriptionState {
  readonly at: number;
  readonly status: 1 | 2 | 5;
  readonly periods: readonly [Period, ...Period[]];
  readonly renewal: {
    readonly autoRenewStatus: 0 | 1;
    readonly priceIncreaseStatus?: 0;
    readonly expirationIntent?: 1;
  };
}

/** The life of a subscription at the App Store: its notifications, and the responses of the API at the end. */
export interface SubscriptionLife {
  /** The first is the purchase. */
  readonly notifications: readonly [NotificationInput, ...NotificationInput[]];
  /** Each transaction as it was signed at its purchase, and as it is signed at the end. */
  readonly signedTransactions: readonly object[];
  readonly customer: Customer;
  /** Time after the last action, in epoch milliseconds. */
  readonly endsAt: number;
}

const periodMs = 30 * dayMs;
const first: Period = {
  transactionId: '1001',
  productId: 'monthly',
  purchaseDate,
  expiresDate: purchaseDate + periodMs,
  transactionReason: 'PURCHASE',
};

/** Builds the life of a subscription. Actions that are impossible in their state are skipped. */
export function buildLife(actions: readonly LifeAction[]): SubscriptionLife {
  let state: SubscriptionState = { at: purchaseDate, status: 1, periods: [first], renewal: { autoRenewStatus: 1 } };
  const notifications: NotificationInput[] = [];
  const signedTransactions: object[] = [toPayload(first, state)];
  for (const action of actions) {
    if (action === 'wait') state = wait(state);
    const next = action === 'wait' ? undefined : applyAction(state, action);
    if (!next) continue;
    const { type, subject, ...changed } = next;
    state = changed;
    const transaction = state.periods.find(({ transactionId }) => transactionId === subject) ?? getLatest(state);
    notifications.push(toNotification(type, transaction, state));
    signedTransactions.push(toPayload(transaction, state));
  }
  const end = { ...state, at: state.at + dayMs };
  return {
    notifications: [toNotification('SUBSCRIBED.INITIAL_BUY', first, { ...initialState }), ...notifications],
    signedTransactions: [...signedTransactions, ...end.periods.map((period) => toPayload(period, end))],
    customer: toCustomer(end),
    endsAt: end.at,
  };
}

const initialState: SubscriptionState = {
  at: purchaseDate,
  status: 1,
  periods: [first],
  renewal: { autoRenewStatus: 1 },
};

const toPayload = (period: Period, { at }: SubscriptionState): object => ({
  ...buildTransactionPayload({ originalPurchaseDate: purchaseDate, signedDate: at, ...period }),
  price: period.productId === 'monthly' ? 4990 : 9990,
});

const toRenewal = ({ at, renewal, ...state }: SubscriptionState): object =>
  buildRenewalPayload({ signedDate: at, autoRenewProductId: getLatest(state).productId, ...renewal });

const toNotification = (type: string, period: Period, state: SubscriptionState): NotificationInput => ({
  type,
  occurredAt: state.at,
  status: state.status,
  transaction: toPayload(period, state),
  renewal: toRenewal(state),
});

function toCustomer(state: SubscriptionState): Customer {
  const latest = toPayload(getLatest(state), state);
  return {
    ...createSubscriber(state.status),
    transactions: state.periods.map((period) => toPayload(period, state)),
    statuses: [{ status: state.status, transaction: latest, renewal: toRenewal(state) }],
  };
}

const getLatest = ({ periods }: Pick<SubscriptionState, 'periods'>): Period => periods.at(-1) ?? periods[0];

/** The state after an action, with the type of its notification and the id of the transaction in it. */
type Change = SubscriptionState & { readonly type: string; readonly subject?: string };

/** Lets most of a period pass, unless it ends before. */
function wait(state: SubscriptionState): SubscriptionState {
  const at = state.at + 20 * dayMs;
  return state.status === 1 && at > getLatest(state).expiresDate ? state : { ...state, at };
}

function applyAction(state: SubscriptionState, action: Exclude<LifeAction, 'wait'>): Change | undefined {
  const { status, renewal } = state;
  const latest = getLatest(state);
  const at = action === 'renew' || action === 'expire' ? latest.expiresDate : state.at + dayMs;
  // The notification of a due renewal or expiration comes before any other action.
  if (status === 1 && at > latest.expiresDate) return undefined;
  const changed = { ...state, at };
  const isRenewing = renewal.autoRenewStatus === 1;
  switch (action) {
    case 'renew':
      return status === 1 && isRenewing ? { ...addPeriod(changed, 'RENEWAL'), type: 'DID_RENEW' } : undefined;
    case 'upgrade':
      return status === 1 ? { ...upgrade(changed), type: 'DID_CHANGE_RENEWAL_PREF.UPGRADE' } : undefined;
    case 'cancel':
      if (status !== 1 || !isRenewing) return undefined;
      return { ...changed, renewal: { autoRenewStatus: 0 }, type: 'DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_DISABLED' };
    case 'uncancel':
      if (status !== 1 || isRenewing) return undefined;
      return { ...changed, renewal: { autoRenewStatus: 1 }, type: 'DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_ENABLED' };
    case 'raise price':
      if (status !== 1 || !isRenewing || renewal.priceIncreaseStatus !== undefined) return undefined;
      return { ...changed, renewal: { ...renewal, priceIncreaseStatus: 0 }, type: 'PRICE_INCREASE.PENDING' };
    case 'expire':
      if (status !== 1 || isRenewing) return undefined;
      return { ...changed, status: 2, renewal: { autoRenewStatus: 0, expirationIntent: 1 }, type: 'EXPIRED.VOLUNTARY' };
    case 'resubscribe':
      return status === 1 ? undefined : { ...addPeriod(changed, 'PURCHASE'), type: 'SUBSCRIBED.RESUBSCRIBE' };
    case 'refund latest':
      return status === 1 ? refund(changed, latest) : undefined;
    case 'refund first':
      return latest.transactionId === first.transactionId ? undefined : refund(changed, state.periods[0]);
  }
}

function addPeriod(
  state: SubscriptionState,
  transactionReason: Period['transactionReason'],
  productId = getLatest(state).productId,
): SubscriptionState {
  const period: Period = {
    transactionId: String(1001 + state.periods.length),
    productId,
    purchaseDate: state.at,
    expiresDate: state.at + periodMs,
    transactionReason,
  };
  return { ...state, status: 1, renewal: { autoRenewStatus: 1 }, periods: [...state.periods, period] };
}

function upgrade(state: SubscriptionState): SubscriptionState {
  const replaced: Period = { ...getLatest(state), isUpgraded: true, expiresDate: state.at };
  const productId = `plan-${state.periods.length}`;
  return addPeriod({ ...state, periods: replacePeriod(state, replaced) }, 'PURCHASE', productId);
}

function refund(state: SubscriptionState, period: Period): Change | undefined {
  if (period.revocationDate !== undefined) return undefined;
  const refunded: Period = { ...period, revocationDate: state.at, revocationReason: 0 };
  const isEnded = period.transactionId === getLatest(state).transactionId;
  return {
    ...state,
    ...(isEnded && { status: 5, renewal: { autoRenewStatus: 0 } }),
    periods: replacePeriod(state, refunded),
    type: 'REFUND',
    subject: period.transactionId,
  };
}

const replacePeriod = ({ periods: [head, ...tail] }: SubscriptionState, changed: Period): [Period, ...Period[]] => {
  const replace = (period: Period): Period => (period.transactionId === changed.transactionId ? changed : period);
  return [replace(head), ...tail.map(replace)];
};
