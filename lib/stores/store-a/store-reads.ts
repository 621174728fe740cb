import type { Answered, AppStoreServer } from './app-store-server.ts';
import { misconfigured, unavailable } from './apple-answer.ts';
import {
  AppTransactionAnswer,
  type AppTransactionPayload,
  type Environment,
  HistoryAnswer,
  StatusesAnswer,
  TransactionAnswer,
} from './payloads.ts';
import { fromSignedStatus, fromSignedTransaction } from './signed-transaction.ts';
import type { StoreTransaction, SubscriptionStatus } from './store-transaction.ts';
import { type Trust, verifiedAppTransaction, verifiedRenewal, verifiedTransaction } from './trust.ts';

/** Where to read, and whom to believe: what Apple answers must be signed by Apple, too. */
export interface Reading {
  readonly server: AppStoreServer;
  readonly environment: Environment;
  readonly trust: Trust;
}

/** The transactions of a customer; not complete when there were more pages than are read. */
export interface History {
  readonly transactions: readonly StoreTransaction[];
  readonly isComplete: boolean;
}

/** A page holds 20 transactions; only test accounts and very old ones have more than a few. */
const mostPages = 50;

/** All subscriptions of the customer who made that transaction. */
export async function readStatuses(id: string, reading: Reading): Promise<Answered<readonly SubscriptionStatus[]>> {
  const { server, environment, trust } = reading;
  const answer = await server.get(environment, `/inApps/v1/subscriptions/${encodeURIComponent(id)}`, StatusesAnswer);
  if (answer.kind !== 'found') return answer;
  checkOrigin(answer.value, reading);
  const last = answer.value.data.flatMap(({ lastTransactions }) => lastTransactions);
  const value = last.map(({ status, signedTransactionInfo, signedRenewalInfo: renewal }) =>
    fromSignedStatus(
      status,
      believed(reading, () => verifiedTransaction(signedTransactionInfo, trust)),
      renewal === undefined ? undefined : believed(reading, () => verifiedRenewal(renewal, trust)),
    ),
  );
  return { kind: 'found', value };
}

/** All transactions of that customer, the latest changes first. */
export async function readHistory(id: string, reading: Reading): Promise<Answered<History>> {
  const path = `/inApps/v2/history/${encodeURIComponent(id)}?sort=DESCENDING`;
  const transactions: StoreTransaction[] = [];
  let from = '';
  for (let page = 0; page < mostPages; page++) {
    const answer = await reading.server.get(reading.environment, path + from, HistoryAnswer);
    if (answer.kind !== 'found') return answer;
    const { signedTransactions, hasMore, revision = '' } = answer.value;
    checkOrigin(answer.value, reading);
    transactions.push(...signedTransactions.map((jws) => believedTransaction(jws, reading)));
    if (!hasMore) return { kind: 'found', value: { transactions, isComplete: true } };
    from = `&revision=${encodeURIComponent(revision)}`;
  }
  return { kind: 'found', value: { transactions, isComplete: false } };
}

/** One transaction. */
export async function readTransaction(id: string, reading: Reading): Promise<Answered<StoreTransaction>> {
  const { server, environment } = reading;
  const answer = await server.get(environment, `/inApps/v1/transactions/${encodeURIComponent(id)}`, TransactionAnswer);
  if (answer.kind !== 'found') return answer;
  return { kind: 'found', value: believedTransaction(answer.value.signedTransactionInfo, reading) };
}

/** The download of the application by that customer. */
export async function readAppTransaction(id: string, reading: Reading): Promise<Answered<AppTransactionPayload>> {
  const { server, environment, trust } = reading;
  const path = `/inApps/v1/transactions/appTransactions/${encodeURIComponent(id)}`;
  const answer = await server.get(environment, path, AppTransactionAnswer);
  if (answer.kind !== 'found') return answer;
  const payload = verifiedAppTransaction(answer.value.signedAppTransactionInfo, trust);
  return { kind: 'found', value: payload };
}

const believedTransaction = (jws: string, reading: Reading): StoreTransaction =>
  fromSignedTransaction(believed(reading, () => verifiedTransaction(jws, reading.trust)));

/** An answer whose parts do not verify is none of Apple's: nothing is known now. */
function believed<T extends { readonly environment: Environment }>({ environment }: Reading, verified: () => T): T {
  try {
    const payload = verified();
    if (payload.environment === environment) return payload;
  } catch (cause) {
    throw unavailable(cause);
  }
  throw unavailable('a part of the answer is from another environment');
}

interface Origin {
  readonly environment: Environment;
  readonly bundleId: string;
  readonly appAppleId?: number;
}

/** Apple answers for the application that the token names; another number shows that ours was entered wrong. */
function checkOrigin(origin: Origin, { environment, trust }: Reading): void {
  if (origin.environment !== environment || origin.bundleId !== trust.bundleId) {
    throw unavailable(`the answer is of ${origin.bundleId} in ${origin.environment}`);
  }
  const { appAppleId = trust.appAppleId } = origin;
  if (environment === 'Production' && appAppleId !== trust.appAppleId && trust.appAppleId !== undefined) {
    throw misconfigured(`appAppleId is ${appAppleId} and not ${trust.appAppleId}`);
  }
}
