import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { parse } from '../../foundation/parse.ts';
import { withoutPlatform } from '../../foundation/platform.ts';
import { toUserUuid } from '../../purchases/user-aliases.ts';
import { type ActionRequest, rejectedActionError, type StoreAnswer } from '../purchase-action.ts';
import type { StoreContext } from '../store-context.ts';
import { invalidSettingsError, parseResponse, storeName, unavailableError } from './api-errors.ts';
import { type AppStoreServerApi, connectAppStore, type RawResult, withRequestBudget } from './app-store-server-api.ts';
import type { Environment } from './payloads.ts';
import { RefreshToken } from './refresh.ts';
import { parseStoredSettings } from './settings.ts';

/** `CUSTOMER_SATISFACTION`. @see https://developer.apple.com/documentation/appstoreserverapi/extendreasoncode */
const extendReasonCode = 1;

const ExtendResponse = v.object({ success: v.boolean(), effectiveDate: v.exactOptional(v.number()) });

interface ActionTarget {
  readonly server: AppStoreServerApi;
  readonly environment: Environment;
  readonly originalTransactionId: string;
}

/** Performs an action by the App Store Server API. Throws `Conflict` if Apple rejects it. */
export async function performAction(request: ActionRequest, context: StoreContext): Promise<StoreAnswer> {
  const settings = parseStoredSettings(context.settings);
  const server = await connectAppStore(settings, { ...context, fetch: withRequestBudget(context) });
  if (!server) throw new ServiceError('InternalError', 'The store_a settings contain no API key.');
  const target: ActionTarget = { ...parse(RefreshToken, request.refreshToken, 'InternalError'), server };
  if (request.action === 'extend') return await extend(request, target);
  if (request.action === 'finish') return await finish(request, target);
  return await setAccount(request, target);
}

/** @see https://developer.apple.com/documentation/appstoreserverapi/extend-a-subscription-renewal-date */
async function extend({ days, requestId, purchase }: ActionRequest, target: ActionTarget): Promise<StoreAnswer> {
  const path = `/inApps/v1/subscriptions/extend/${encodeURIComponent(withoutPlatform(purchase.purchaseId))}`;
  const body = { extendByDays: days, extendReasonCode, requestIdentifier: requestId };
  const result = await target.server.send(target.environment, path, { method: 'PUT', body });
  const { success, effectiveDate } = parseResponse(ExtendResponse, requireAccepted(result));
  // A response with HTTP 200 can report a failed extension.
  if (!success) throw rejectedActionError(storeName, 'the renewal date was not extended.');
  return {
    status: 'extended',
    ...(effectiveDate !== undefined && { until: new Date(effectiveDate).toISOString() }),
  };
}

/** @see https://developer.apple.com/documentation/appstoreserverapi/finish-transaction */
async function finish({ purchase }: ActionRequest, { server, environment }: ActionTarget): Promise<StoreAnswer> {
  const id = withoutPlatform(purchase.transactionId);
  const path = `/inApps/v1/transactions/${encodeURIComponent(id)}/finish`;
  requireAccepted(await server.send(environment, path, { method: 'POST' }));
  return { status: 'finished', id };
}

/** @see https://developer.apple.com/documentation/appstoreserverapi/set-app-account-token */
async function setAccount({ account = '', purchase }: ActionRequest, target: ActionTarget): Promise<StoreAnswer> {
  const appAccountToken = toUserUuid(account);
  const id = withoutPlatform(purchase.purchaseId);
  const path = `/inApps/v1/transactions/${encodeURIComponent(id)}/appAccountToken`;
  requireAccepted(await target.server.send(target.environment, path, { method: 'PUT', body: { appAccountToken } }));
  return { status: 'account set' };
}

/** Reasons in words. @see https://developer.apple.com/documentation/appstoreserverapi/error-codes */
const reasons: Readonly<Record<number, string>> = {
  4000009: 'the number of days is not valid.',
  4000048: 'the id is of an app transaction.',
  4000183: 'the account is not a UUID.',
  4000185: 'the purchase is a family share.',
  4000187: 'the id is not of an original transaction.',
  4030004: 'the subscription is not eligible for an extension.',
  4030005: 'the subscription already had two extensions in 365 days.',
  4030007: 'a shared subscription follows the one that is paid.',
};

/** Returns the text of the response. Throws `Conflict` for a rejected request. */
function requireAccepted(result: RawResult): string {
  if (result.kind === 'accepted') return result.text;
  if (result.kind === 'unauthorized') throw invalidSettingsError('the API key is not valid', result.reason);
  const { errorCode } = result;
  if (errorCode === undefined) throw unavailableError('HTTP 4xx without an error code');
  throw rejectedActionError(storeName, `${reasons[errorCode] ?? 'the request is not valid.'} (${errorCode})`);
}
