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

/** Where to read, and whom to believe: what Apple answers must be signed by Apple, too. */
export interface ApiContext {
  readonly server: AppStoreServerApi;
  readonly environment: Environment;
  readonly trust: VerificationContext;
}

/** The transactions of a customer; not complete when there were more pages than are read. */
export interface TransactionHistory {
  readonly transactions: readonly StoreTransaction[];
  readonly isComplete: boolean;
}

/** A page holds 20 transactions; only test accounts and very old ones have more than a few. */
const maxPages = 50;

/** All subscriptions of the customer who made that transaction. */
export async function fetchStatuses(
  id: string,
  context: ApiContext,
): Promise<ApiResult<readonly SubscriptionStatus[]>> {
  const { server, environment, trust } = context;
  const response = await server.get(
    environment,
    `/inApps/v1/subscriptions/${encodeURIComponent(id)}`,
    StatusesResponse,
  );
  if (response.kind !== 'found') return response;
  checkResponseOrigin(response.value, context);
  const last = response.value.data.flatMap(({ lastTransactions }) => lastTransactions);
  const value = last.map(({ status, signedTransactionInfo, signedRenewalInfo: renewal }) =>
    fromSignedStatus(
      status,
      verifyResponsePart(context, () => verifyTransaction(signedTransactionInfo, trust)),
      renewal === undefined ? undefined : verifyResponsePart(context, () => verifyRenewal(renewal, trust)),
    ),
  );
  return { kind: 'found', value };
}

/** All transactions of that customer, the latest changes first. */
export async function fetchHistory(id: string, context: ApiContext): Promise<ApiResult<TransactionHistory>> {
  const path = `/inApps/v2/history/${encodeURIComponent(id)}?sort=DESCENDING`;
  const transactions: StoreTransaction[] = [];
  let from = '';
  for (let page = 0; page < maxPages; page++) {
    const response = await context.server.get(context.environment, path + from, HistoryResponse);
    if (response.kind !== 'found') return response;
    const { signedTransactions, hasMore, revision = '' } = response.value;
    checkResponseOrigin(response.value, context);
    transactions.push(...signedTransactions.map((jws) => verifyResponseTransaction(jws, context)));
    if (!hasMore) return { kind: 'found', value: { transactions, isComplete: true } };
    from = `&revision=${encodeURIComponent(revision)}`;
  }
  return { kind: 'found', value: { transactions, isComplete: false } };
}

/** One transaction. */
export async function fetchTransaction(id: string, context: ApiContext): Promise<ApiResult<StoreTransaction>> {
  const { server, environment } = context;
  const response = await server.get(
    environment,
    `/inApps/v1/transactions/${encodeURIComponent(id)}`,
    TransactionInfoResponse,
  );
  if (response.kind !== 'found') return response;
  return { kind: 'found', value: verifyResponseTransaction(response.value.signedTransactionInfo, context) };
}

/** The download of the application by that customer. */
export async function fetchAppTransaction(id: string, context: ApiContext): Promise<ApiResult<AppTransactionPayload>> {
  const { server, environment, trust } = context;
  const path = `/inApps/v1/transactions/appTransactions/${encodeURIComponent(id)}`;
  const response = await server.get(environment, path, AppTransactionInfoResponse);
  if (response.kind !== 'found') return response;
  const payload = verifyAppTransaction(response.value.signedAppTransactionInfo, trust);
  return { kind: 'found', value: payload };
}

const verifyResponseTransaction = (jws: string, context: ApiContext): StoreTransaction =>
  fromSignedTransaction(verifyResponsePart(context, () => verifyTransaction(jws, context.trust)));

/** An answer whose parts do not verify is none of Apple's: nothing is known now. */
function verifyResponsePart<T extends { readonly environment: Environment }>(
  { environment }: ApiContext,
  verified: () => T,
): T {
  try {
    const payload = verified();
    if (payload.environment === environment) return payload;
  } catch (cause) {
    throw unavailableError(cause);
  }
  throw unavailableError('a part of the answer is from another environment');
}

interface ResponseOrigin {
  readonly environment: Environment;
  readonly bundleId: string;
  readonly appAppleId?: number;
}

/** Apple answers for the application that the token names; another number shows that ours was entered wrong. */
function checkResponseOrigin(origin: ResponseOrigin, { environment, trust }: ApiContext): void {
  if (origin.environment !== environment || origin.bundleId !== trust.bundleId) {
    throw unavailableError(`the answer is of ${origin.bundleId} in ${origin.environment}`);
  }
  const { appAppleId = trust.appAppleId } = origin;
  if (environment === 'Production' && appAppleId !== trust.appAppleId && trust.appAppleId !== undefined) {
    throw invalidSettingsError(`appAppleId is ${appAppleId} and not ${trust.appAppleId}`);
  }
}
