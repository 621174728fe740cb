import type { EpochMillis } from '../../foundation/time.ts';
import { invalidSettingsError } from './api-errors.ts';
import type { ApiResult, AppStoreServerApi } from './app-store-server-api.ts';
import { type ApiContext, fetchAppTransaction, fetchHistory, fetchStatuses } from './fetch-transactions.ts';
import type { AppTransactionPayload, Environment } from './payloads.ts';
import type { StoreTransaction, SubscriptionStatus } from './store-transaction.ts';
import type { VerificationContext } from './verification.ts';

/** All purchases of a store account in the app. */
export interface StoreAccount {
  readonly transactions: readonly StoreTransaction[];
  readonly statuses: readonly SubscriptionStatus[];
  /** The latest signing date in the responses. Undefined if they contain no purchase. */
  readonly asOf?: EpochMillis;
  /** False if the transaction history exceeded the page limit. */
  readonly isComplete: boolean;
}

interface AccountLookup {
  /** Any transaction id of the customer, or their app transaction id. */
  readonly id: string;
  /** The environment from the signed evidence. Default: production first. */
  readonly environment?: Environment;
}

/**
 * Fetches all purchases of the customer. Returns undefined if no environment contains the id. Throws
 * `ConnectionFailed`, and `InternalError` if the API key is not valid.
 */
export async function fetchAccount(
  { id, environment = 'Production' }: AccountLookup,
  server: AppStoreServerApi,
  verification: VerificationContext,
): Promise<StoreAccount | undefined> {
  return await tryBothEnvironments(environment, (candidate) =>
    fetchAccountIn({ environment: candidate, server, verification }, id),
  );
}

/**
 * Fetches from the first environment and, if it returns nothing, from the second. Production rejects the key of an app
 * that has not been released. Throws `InternalError` if the first environment rejects the key and the second returns
 * nothing.
 */
async function tryBothEnvironments<T>(
  first: Environment,
  fetchFrom: (environment: Environment) => Promise<ApiResult<T>>,
): Promise<T | undefined> {
  const firstResult = await fetchFrom(first);
  if (firstResult.kind === 'found') return firstResult.value;
  const secondResult = await fetchFrom(first === 'Production' ? 'Sandbox' : 'Production');
  if (secondResult.kind === 'found') return secondResult.value;
  if (firstResult.kind === 'unauthorized')
    throw invalidSettingsError('the API key is not valid', `${first}: ${firstResult.reason}`);
  return undefined;
}

/** Fetches the customer's app download. Returns undefined on any error: the download is optional in a validation. */
export async function tryFetchAppTransaction(
  id: string,
  context: ApiContext,
): Promise<AppTransactionPayload | undefined> {
  try {
    const result = await fetchAppTransaction(id, context);
    return result.kind === 'found' ? result.value : undefined;
  } catch {
    return undefined;
  }
}

async function fetchAccountIn(context: ApiContext, id: string): Promise<ApiResult<StoreAccount>> {
  const [statuses, history] = await Promise.all([fetchStatuses(id, context), fetchHistory(id, context)]);
  for (const result of [statuses, history]) if (result.kind === 'unauthorized') return result;
  if (statuses.kind !== 'found' && history.kind !== 'found') return { kind: 'notFound' };
  const { transactions, isComplete } =
    history.kind === 'found' ? history.value : { transactions: [], isComplete: true };
  const account = { transactions, statuses: statuses.kind === 'found' ? statuses.value : [], isComplete };
  return { kind: 'found', value: { ...account, ...findLatestSignedAt(account) } };
}

function findLatestSignedAt({
  transactions,
  statuses,
}: Pick<StoreAccount, 'transactions' | 'statuses'>): Pick<StoreAccount, 'asOf'> {
  const signed = [...transactions, ...statuses.flatMap((status) => [status, status.transaction])];
  const dates = signed.flatMap(({ signedAt }) => signedAt ?? []);
  return dates.length === 0 ? {} : { asOf: Math.max(...dates) };
}
