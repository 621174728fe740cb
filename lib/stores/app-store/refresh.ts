import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { parse } from '../../foundation/parse.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { StoreContext } from '../store-context.ts';
import { type AppStoreServerApi, connectAppStore, withRequestBudget } from './app-store-server-api.ts';
import { fetchAccount, type StoreAccount } from './fetch-account.ts';
import { fetchTransaction } from './fetch-transactions.ts';
import { groupByPurchase, type TransactionGroup } from './group-by-purchase.ts';
import { Environment } from './payloads.ts';
import { hasTransactionId } from './sales.ts';
import { parseStoredSettings } from './settings.ts';
import { toObservation } from './to-observation.ts';
import { createVerificationContext, type VerificationContext } from './verification.ts';

/** Data to query the App Store for a purchase again. */
export const RefreshToken = v.object({
  originalTransactionId: v.string(),
  environment: Environment,
});
type RefreshToken = v.InferOutput<typeof RefreshToken>;

export async function refresh(
  refreshToken: Readonly<Record<string, string>>,
  context: StoreContext,
): Promise<readonly Observation[]> {
  const token = parse(RefreshToken, refreshToken, 'InternalError');
  const settings = parseStoredSettings(context.settings);
  const server = await connectAppStore(settings, { ...context, fetch: withRequestBudget(context) });
  if (!server) throw missingApiKeyError();
  const verification = createVerificationContext(settings, context);
  const account = await fetchAccountWith(token, server, verification);
  return groupByPurchase({ transactions: [] }, account, verification.now)
    .filter((group) => containsId(group, token.originalTransactionId))
    .map((group) => toObservation(group, { requestDetails: {}, canRefresh: true }));
}

/** The files of an import can name later transactions of the purchase. */
const containsId = ({ originalTransactionId, transactions }: TransactionGroup, id: string): boolean =>
  originalTransactionId === id || transactions.some((transaction) => hasTransactionId(transaction, id));

/** Fetches the customer's account. A one-time purchase that is missing in the history is fetched separately. */
async function fetchAccountWith(
  { originalTransactionId: id, environment }: RefreshToken,
  server: AppStoreServerApi,
  verification: VerificationContext,
): Promise<StoreAccount> {
  const account = await fetchAccount({ id, environment }, server, verification);
  if (!account) throw new ServiceError('InvalidPayload', 'The purchase is not found in the App Store.');
  const owned = [...account.transactions, ...account.statuses.map(({ transaction }) => transaction)];
  if (owned.some(({ originalTransactionId }) => originalTransactionId === id)) return account;
  const result = await fetchTransaction(id, { server, environment, verification });
  if (result.kind !== 'found') return account;
  const transactions = [...account.transactions, result.value];
  return { ...account, transactions, asOf: Math.max(account.asOf ?? 0, result.value.signedAt ?? 0) };
}

const missingApiKeyError = (): ServiceError =>
  new ServiceError('InternalError', 'The store_a settings contain no API key, which is required for a refresh.');
