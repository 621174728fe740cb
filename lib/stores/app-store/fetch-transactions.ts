import { invalidSettingsError, unavailableError } from './api-errors.ts';
import type { ApiResult, AppStoreServerApi } from './app-store-server-api.ts';
import {
  AppTransactionInfoResponse,
  type AppTransactionPayload,
  type Environment,
  HistoryResponse,
  StatusesResponse,
  TransactionInfoResponse,
} from './payloads.ts';
import { fromSignedStatus, fromSignedTransaction } from './signed-transaction.ts';
import type { StoreTransaction, SubscriptionStatus } from './store-transaction.ts';
import { type VerificationContext, verifyAppTransaction, verifyRenewal, verifyTransaction } from './verification.ts';

/** Dependencies of the API queries. Signatures in the responses are verified, too. */
export interface ApiContext {
  readonly server: AppStoreServerApi;
  readonly environment: Environment;
  readonly verification: VerificationContext;
}

export interface TransactionHistory {
  readonly transactions: readonly StoreTransaction[];
  /** False if transactions are missing because the history has too many pages. */
  readonly isComplete: boolean;
}

/**
 * Maximum number of pages with 20 transactions each. Only test accounts and buyers of many consumables have more than a
 * few.
 */
const maxPages = 20;

/** Maximum number of further pages without consumables. */
const maxPagesWithoutConsumables = 30;

/**
 * Fetches the status of all subscriptions of the customer who owns the transaction.
 * @see https://developer.apple.com/documentation/appstoreserverapi/get_all_subscription_statuses
 */
export async function fetchStatuses(
  transactionId: string,
  context: ApiContext,
): Promise<ApiResult<readonly SubscriptionStatus[]>> {
  const { server, environment, verification } = context;
  const path = `/inApps/v1/subscriptions/${encodeURIComponent(transactionId)}`;
  const result = await server.get(environment, path, StatusesResponse);
  if (result.kind !== 'found') return result;
  checkResponseOrigin(result.value, context);
  const lastTransactions = result.value.data.flatMap((group) => group.lastTransactions);
  const statuses = lastTransactions.map(({ status, signedTransactionInfo, signedRenewalInfo }) =>
    fromSignedStatus(
      status,
      verifyResponsePart(context, () => verifyTransaction(signedTransactionInfo, verification)),
      signedRenewalInfo === undefined
        ? undefined
        : verifyResponsePart(context, () => verifyRenewal(signedRenewalInfo, verification)),
    ),
  );
  return { kind: 'found', value: statuses };
}

/**
 * Fetches the transactions of the customer who owns the transaction, the latest changes first. If the history is too
 * long, the other products are fetched without consumables: a very old purchase can still give access.
 * @see https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history
 */
export async function fetchHistory(transactionId: string, context: ApiContext): Promise<ApiResult<TransactionHistory>> {
  const path = `/inApps/v2/history/${encodeURIComponent(transactionId)}?sort=DESCENDING`;
  const latest = await fetchPages(path, maxPages, context);
  if (latest.kind !== 'found' || latest.value.isComplete) return latest;
  const filters = '&productType=AUTO_RENEWABLE&productType=NON_RENEWABLE&productType=NON_CONSUMABLE';
  const lasting = await fetchPages(path + filters, maxPagesWithoutConsumables, context);
  if (lasting.kind !== 'found') return lasting;
  const transactions = [...latest.value.transactions, ...lasting.value.transactions];
  return { kind: 'found', value: { transactions, isComplete: false } };
}

async function fetchPages(path: string, limit: number, context: ApiContext): Promise<ApiResult<TransactionHistory>> {
  const transactions: StoreTransaction[] = [];
  let pageQuery = '';
  for (let page = 0; page < limit; page++) {
    const result = await context.server.get(context.environment, path + pageQuery, HistoryResponse);
    if (result.kind !== 'found') return result;
    const { signedTransactions, hasMore, revision = '' } = result.value;
    checkResponseOrigin(result.value, context);
    transactions.push(...signedTransactions.map((jws) => verifyResponseTransaction(jws, context)));
    if (!hasMore) return { kind: 'found', value: { transactions, isComplete: true } };
    pageQuery = `&revision=${encodeURIComponent(revision)}`;
  }
  return { kind: 'found', value: { transactions, isComplete: false } };
}

/** @see https://developer.apple.com/documentation/appstoreserverapi/get_transaction_info */
export async function fetchTransaction(
  transactionId: string,
  context: ApiContext,
): Promise<ApiResult<StoreTransaction>> {
  const { server, environment } = context;
  const path = `/inApps/v1/transactions/${encodeURIComponent(transactionId)}`;
  const result = await server.get(environment, path, TransactionInfoResponse);
  if (result.kind !== 'found') return result;
  return { kind: 'found', value: verifyResponseTransaction(result.value.signedTransactionInfo, context) };
}

/** @see https://developer.apple.com/documentation/appstoreserverapi/get-app-transaction-info */
export async function fetchAppTransaction(
  transactionId: string,
  context: ApiContext,
): Promise<ApiResult<AppTransactionPayload>> {
  const { server, environment, verification } = context;
  const path = `/inApps/v1/transactions/appTransactions/${encodeURIComponent(transactionId)}`;
  const result = await server.get(environment, path, AppTransactionInfoResponse);
  if (result.kind !== 'found') return result;
  return { kind: 'found', value: verifyAppTransaction(result.value.signedAppTransactionInfo, verification) };
}

const verifyResponseTransaction = (jws: string, context: ApiContext): StoreTransaction =>
  fromSignedTransaction(verifyResponsePart(context, () => verifyTransaction(jws, context.verification)));

/** A response with an invalid part is handled like an outage: throws `ConnectionFailed`. */
function verifyResponsePart<T extends { readonly environment: Environment }>(
  { environment }: ApiContext,
  verifyPart: () => T,
): T {
  try {
    const payload = verifyPart();
    if (payload.environment === environment) return payload;
  } catch (cause) {
    throw unavailableError(cause);
  }
  throw unavailableError('A part of the response is from another environment.');
}

interface ResponseOrigin {
  readonly environment: Environment;
  readonly bundleId: string;
  readonly appAppleId?: number | undefined;
}

/** The token selects the app by its bundle id. A different `appAppleId` shows that the setting is wrong. */
function checkResponseOrigin(origin: ResponseOrigin, { environment, verification }: ApiContext): void {
  if (origin.environment !== environment || origin.bundleId !== verification.bundleId) {
    throw unavailableError(`The response is for ${origin.bundleId} in ${origin.environment}.`);
  }
  const { appAppleId = verification.appAppleId } = origin;
  const isMismatch = verification.appAppleId !== undefined && appAppleId !== verification.appAppleId;
  if (environment === 'Production' && isMismatch) {
    throw invalidSettingsError(
      'appAppleId does not match bundleId',
      `appAppleId is ${appAppleId}, not ${verification.appAppleId}.`,
    );
  }
}
