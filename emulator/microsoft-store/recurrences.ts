import * as v from 'valibot';
import { type HttpResponse, jsonResponse, type StoreHttpRequest } from '../http-messages.ts';
import { skuId } from './collection-item.ts';
import type { Purchase } from './records.ts';
import { extend } from './recurrence-transitions.ts';
import type { ResponseContext } from './response-context.ts';
import { badRequestError, notFoundError } from './service-error.ts';
import { parseRequest, requireKeyHolder, Sandbox, toPage, toTimestamp } from './service-request.ts';
import { listPurchases } from './store-state.ts';
import { refund } from './take-back.ts';

const maxPageSize = 100;
const defaultPageSize = 25;

const Query = v.object({
  b2bKey: v.string(),
  continuationToken: v.nullish(v.string()),
  pageSize: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(maxPageSize)), defaultPageSize),
  sbx: Sandbox,
});

/**
 * `POST /v8.0/b2b/recurrences/query`: returns all subscriptions of the customer, including ended ones.
 *
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/get-subscriptions-for-a-user
 */
export function queryRecurrences(context: ResponseContext, call: StoreHttpRequest): HttpResponse {
  const query = parseRequest(Query, call);
  const { account, userId } = requireKeyHolder(context, call, { service: 'purchase', key: query.b2bKey });
  const subscriptions = listPurchases(context.state, account, query.sbx).filter(({ recurrence }) => recurrence);
  const { items, ...page } = toPage(subscriptions, query.pageSize, {
    continuationToken: query.continuationToken,
    listLength: context.settings().listLength,
  });
  return jsonResponse(200, { ...page, items: items.map((purchase) => toRecurrenceItem(purchase, userId)) });
}

const ChangeBody = v.object({
  b2bKey: v.string(),
  changeType: v.picklist(['Cancel', 'Extend', 'Refund', 'ToggleAutoRenew']),
  extensionTimeInDays: v.exactOptional(v.pipe(v.union([v.string(), v.number()]), v.transform(Number), v.integer())),
  sbx: Sandbox,
});

/**
 * `POST /v8.0/b2b/recurrences/{id}/change`: changes a subscription on behalf of the developer.
 *
 * @see https://github.com/microsoft/Microsoft-Store-Services/blob/main/Microsoft.StoreServices/Microsoft.StoreServices/Recurrence/RecurrenceChangeRequest.cs
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/change-the-billing-state-of-a-subscription-for-a-user
 */
export function changeRecurrence(context: ResponseContext, call: StoreHttpRequest, id: string): HttpResponse {
  const change = parseRequest(ChangeBody, call);
  const { account, userId } = requireKeyHolder(context, call, { service: 'purchase', key: change.b2bKey });
  const purchase = listPurchases(context.state, account, change.sbx).find(
    (candidate) => candidate.id === id && candidate.recurrence,
  );
  if (purchase === undefined) throw notFoundError('The recurrence was not found.');
  const changed = applyChange(purchase, change, context.now());
  context.state.purchases.set(id, changed);
  return jsonResponse(200, toRecurrenceItem(changed, userId));
}

function applyChange(purchase: Purchase, change: v.InferOutput<typeof ChangeBody>, at: number): Purchase {
  const { changeType, extensionTimeInDays: days } = change;
  const { recurrence } = purchase;
  if (recurrence?.state !== 'Active') throw badRequestError('The recurrence is not active.');
  switch (changeType) {
    case 'Refund':
      return refund(purchase, at);
    // The customer keeps the rest of the paid period after `Cancel`, too. Neither turns automatic renewal on.
    case 'Cancel':
    case 'ToggleAutoRenew':
      return recurrence.autoRenew
        ? { ...purchase, recurrence: { ...recurrence, autoRenew: false, cancellationDate: at, lastModified: at } }
        : purchase;
    default:
      if (days === undefined || days === 0) throw badRequestError('extensionTimeInDays is missing');
      return extend(purchase, at, days);
  }
}

function toRecurrenceItem({ id, productId, country, recurrence }: Purchase, userId: string): object {
  if (recurrence === undefined) throw new Error(`${id} is not a subscription`);
  const { autoRenew, isTrial, state, cancellationDate } = recurrence;
  return {
    autoRenew,
    beneficiary: `pub:${userId}`,
    expirationTime: toTimestamp(recurrence.expirationTime),
    expirationTimeWithGrace: toTimestamp(recurrence.expirationTimeWithGrace),
    id,
    isTrial,
    lastModified: toTimestamp(recurrence.lastModified),
    market: country,
    productId,
    skuId,
    startTime: toTimestamp(recurrence.startTime),
    recurrenceState: state,
    ...(cancellationDate !== undefined && { cancellationDate: toTimestamp(cancellationDate) }),
  };
}
