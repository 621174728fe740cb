import * as v from 'valibot';
import { dayMs } from '../calendar.ts';
import { type HttpResponse, jsonResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { getProduct } from '../product.ts';
import { createActions } from './actions.ts';
import { apiError } from './api-error.ts';
import { getPaidUntil } from './purchase-transition.ts';
import { type Environment, getLatestTransaction, type Purchase } from './records.ts';
import { applyActionToPurchase, type OperationContext } from './store-operations.ts';
import {
  findByAppTransaction,
  findTransaction,
  listPurchases,
  type OwnedTransaction,
  savePurchase,
} from './store-state.ts';

/** An action of the developer by the App Store Server API. */
type DeveloperAction = (context: OperationContext, call: StoreHttpRequest, environment: Environment) => HttpResponse;

const routes: readonly (readonly [method: string, path: RegExp, action: (id: string) => DeveloperAction])[] = [
  ['PUT', /^\/inApps\/v1\/subscriptions\/extend\/([^/]+)$/, extend],
  ['POST', /^\/inApps\/v1\/transactions\/([^/]+)\/finish$/, finishTransaction],
  ['PUT', /^\/inApps\/v1\/transactions\/([^/]+)\/appAccountToken$/, setAppAccountToken],
];

/** Finds the action with the method and path of a call. */
export function findDeveloperAction({ method, path }: StoreHttpRequest): DeveloperAction | undefined {
  for (const [verb, pattern, action] of routes) {
    const [, id] = (verb === method && pattern.exec(path)) || [];
    if (id !== undefined) return action(id);
  }
  return undefined;
}

const parseBody = <S extends v.GenericSchema>(schema: S, { body }: StoreHttpRequest): v.InferOutput<S> => {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), body.toString('utf8'));
  if (!result.success) throw apiError(4000000, 'Bad request.');
  return result.output;
};

const ExtendBody = v.looseObject({
  extendByDays: v.optional(v.unknown()),
  extendReasonCode: v.optional(v.unknown()),
  requestIdentifier: v.optional(v.unknown()),
});

const maxExtensions = 2;
const extensionYearMs = 365 * dayMs;

/**
 * `PUT /inApps/v1/subscriptions/extend/{originalTransactionId}`: extends an active, paid subscription, at most twice in
 * 365 days per customer.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/extend-a-subscription-renewal-date
 */
function extend(id: string): DeveloperAction {
  return (context, call, environment) => {
    const { purchase, account } = requireOriginal(context, environment, id, 4000008);
    const { extendByDays, extendReasonCode, requestIdentifier } = parseBody(ExtendBody, call);
    const Days = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(90));
    const days = v.safeParse(Days, extendByDays);
    if (!days.success) throw apiError(4000009, 'Invalid extend by days value.');
    if (![0, 1, 2, 3].includes(Number(extendReasonCode))) throw apiError(4000010, 'Invalid extend reason code.');
    if (typeof requestIdentifier !== 'string' || requestIdentifier.length > 128 || requestIdentifier === '')
      throw apiError(4000011, 'Invalid request identifier.');
    if (purchase.sharedFrom !== undefined)
      throw apiError(4030007, 'Subscriptions that users obtain through Family Sharing cannot get an extension.');
    const at = context.now();
    requireEligible(purchase, at);
    const recent = listPurchases(context.state, account.id)
      .flatMap(({ extendedAt = [] }) => extendedAt)
      .filter((time) => time > at - extensionYearMs);
    if (recent.length >= maxExtensions)
      throw apiError(4030005, 'Forbidden - subscription has reached the maximum number of extensions.');
    const action = createActions(context.state).extend;
    if (!action) throw new Error('The action extend is missing');
    applyActionToPurchase(context, purchase, action, { at, details: { period: `P${days.output}D` } });
    const extended = context.state.purchases.get(purchase.id) ?? purchase;
    savePurchase(context.state, { ...extended, extendedAt: [...(extended.extendedAt ?? []), at] });
    const { webOrderLineItemId } = getLatestTransaction(extended);
    return jsonResponse(200, {
      effectiveDate: getPaidUntil(extended),
      originalTransactionId: purchase.id,
      success: true,
      webOrderLineItemId,
    });
  };
}

/** @see https://developer.apple.com/documentation/appstoreserverapi/subscriptionextensionineligibleerror */
function requireEligible(purchase: Purchase, at: number): void {
  const isFree = getLatestTransaction(purchase).offer?.discountType === 'FREE_TRIAL';
  const isPaid = purchase.subscription?.state === 'ACTIVE' && getPaidUntil(purchase) > at;
  if (isFree || !isPaid) throw apiError(4030004, 'Forbidden - subscription state ineligible for extension.');
}

/**
 * `POST /inApps/v1/transactions/{transactionId}/finish`: finishes a transaction for the app. A finished one stays so.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/finish-transaction
 */
function finishTransaction(id: string): DeveloperAction {
  return (context, _call, environment) => {
    const { purchase, transaction } = requireOwned(context, environment, id);
    // Other products stay in the receipts of the device.
    if (getProduct(context.state, transaction.productId).type === 'consumable')
      savePurchase(context.state, { ...purchase, isFinished: true });
    return textResponse(200, '');
  };
}

const TokenBody = v.looseObject({ appAccountToken: v.optional(v.unknown()) });
const Uuid = v.pipe(v.string(), v.uuid());

/**
 * `PUT /inApps/v1/transactions/{originalTransactionId}/appAccountToken`: sets the token from the current period on.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/set-app-account-token
 */
function setAppAccountToken(id: string): DeveloperAction {
  return (context, call, environment) => {
    const { purchase } = requireOriginal(context, environment, id, 4000006);
    const token = v.safeParse(Uuid, parseBody(TokenBody, call).appAccountToken);
    if (!token.success) throw apiError(4000183, 'Invalid request. The app account token field must be a valid UUID.');
    if (purchase.sharedFrom !== undefined)
      throw apiError(4000185, 'Invalid request. Family transactions are not supported.');
    const from = getLatestTransaction(purchase).purchaseDate;
    savePurchase(context.state, { ...purchase, developerToken: { token: token.output.toLowerCase(), from } });
    return textResponse(200, '');
  };
}

function requireOwned({ state }: OperationContext, environment: Environment, id: string): OwnedTransaction {
  if (!/^\d{1,20}$/.test(id)) throw apiError(4000006, 'Invalid transaction id.');
  const owned = findTransaction(state, environment, id);
  if (owned) return owned;
  if (findByAppTransaction(state, environment, id)) throw apiError(4000048, 'App transaction id is not supported.');
  throw apiError(4040010, 'Transaction id not found.');
}

function requireOriginal(
  { state }: OperationContext,
  environment: Environment,
  id: string,
  invalidCode: number,
): OwnedTransaction {
  if (!/^\d{1,20}$/.test(id)) throw apiError(invalidCode, 'Invalid original transaction id.');
  const owned = findTransaction(state, environment, id);
  if (!owned) throw apiError(4040005, 'Original transaction id not found.');
  if (owned.purchase.id !== id) throw apiError(4000187, 'The transaction id is not an original transaction id.');
  return owned;
}
