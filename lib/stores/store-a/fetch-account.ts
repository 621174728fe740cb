import type { EpochMillis } from '../../shared/time.ts';
import { invalidSettingsError } from './api-errors.ts';
import type { ApiResult, AppStoreServerApi } from './app-store-server-api.ts';
import { type ApiContext, fetchAppTransaction, fetchHistory, fetchStatuses } from './fetch-transactions.ts';
import type { AppTransactionPayload, Environment } from './payloads.ts';
import type { StoreTransaction, SubscriptionStatus } from './store-transaction.ts';
import type { VerificationContext } from './verification.ts';

/** All that a store account owns in the application, as Apple tells it. */
export interface StoreAccount {
  readonly transactions: readonly StoreTransaction[];
  readonly statuses: readonly SubscriptionStatus[];
  /** The latest moment on Apple's clock that the answers know; undefined when they show nothing. */
  readonly asOf?: EpochMillis;
  /** False when the history was too long to be read to its end. */
  readonly isComplete: boolean;
}

interface AccountLookup {
  /** Any transaction of the customer, or the id of their download of the application. */
  readonly id: string;
  /** Where it was made, by what Apple signed; production is tried first when that is not known. */
  readonly environment?: Environment;
}

/**
 * Everything of the customer. Undefined when Apple knows the id in neither environment. Throws `ConnectionFailed`, and
 * `InternalError` when Apple refuses our key in both.
 */
export async function fetchAccount(
  { id, environment = 'Production' }: AccountLookup,
  server: AppStoreServerApi,
  trust: VerificationContext,
): Promise<StoreAccount | undefined> {
  return await tryBothEnvironments(environment, (tried) => fetchAccountIn({ environment: tried, server, trust }, id));
}

/**
 * What is found in the first environment, or else in the other one. A key that is refused in the first may be that of an
 * application not released yet, which the sandbox knows. Throws `InternalError` when the first refuses and the other has not.
 */
async function tryBothEnvironments<T>(
  first: Environment,
  read: (environment: Environment) => Promise<ApiResult<T>>,
): Promise<T | undefined> {
  const response = await read(first);
  if (response.kind === 'found') return response.value;
  const other = await read(first === 'Production' ? 'Sandbox' : 'Production');
  if (other.kind === 'found') return other.value;
  if (response.kind === 'refused') throw invalidSettingsError(`${first} refuses the API key: ${response.reason}`);
  return undefined;
}

/** The download of the application: a detail that no answer fails without. */
export async function tryFetchAppTransaction(
  id: string,
  context: ApiContext,
): Promise<AppTransactionPayload | undefined> {
  try {
    const response = await fetchAppTransaction(id, context);
    return response.kind === 'found' ? response.value : undefined;
  } catch {
    return undefined;
  }
}

async function fetchAccountIn(context: ApiContext, id: string): Promise<ApiResult<StoreAccount>> {
  const [statuses, history] = await Promise.all([fetchStatuses(id, context), fetchHistory(id, context)]);
  for (const result of [statuses, history]) if (result.kind === 'refused') return result;
  if (statuses.kind !== 'found' && history.kind !== 'found') return { kind: 'missing' };
  const { transactions, isComplete } =
    history.kind === 'found' ? history.value : { transactions: [], isComplete: true };
  const account = { transactions, statuses: statuses.kind === 'found' ? statuses.value : [], isComplete };
  return { kind: 'found', value: { ...account, ...findLatestSignedAt(account) } };
}

function findLatestSignedAt({ transactions, statuses }: Pick<StoreAccount, 'transactions' | 'statuses'>): {
  asOf?: EpochMillis;
} {
  const signed = [...transactions, ...statuses.flatMap((status) => [status, status.transaction])];
  const dates = signed.flatMap(({ signedAt }) => signedAt ?? []);
  return dates.length === 0 ? {} : { asOf: Math.max(...dates) };
}
