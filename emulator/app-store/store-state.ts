import { randomInt } from 'node:crypto';
import * as v from 'valibot';
import { indexById } from '../index-by-id.ts';
import { RefundRequest } from '../refund-request.ts';
import { Account, type Environment, getLatestTransaction, Product, Purchase, type Transaction } from './records.ts';
import { findTransactionCopy } from './restoring.ts';

/** Products, accounts and purchases of the store, with the indexes of its API. */
export interface StoreState {
  readonly products: Map<string, Product>;
  readonly accounts: Map<string, Account>;
  readonly purchases: Map<string, Purchase>;
  readonly purchaseIdsByTransaction: Map<string, string>;
  readonly purchaseIdsByAccount: Map<string, Set<string>>;
  /** Refund requests, the oldest first. */
  readonly refundRequests: Map<string, RefundRequest>;
  lastNumber: number;
}

/** State in the state file. */
export const SavedState = v.object({
  products: v.array(Product),
  accounts: v.array(Account),
  purchases: v.array(Purchase),
  refundRequests: v.exactOptional(v.array(RefundRequest)),
  lastNumber: v.number(),
});
type SavedState = v.InferOutput<typeof SavedState>;

// Random, so that two emulators rarely use the same transaction ids.
const firstNumber = (): number => randomInt(1_000_000) * 1_000_000;

/** Creates an empty state, or restores the state of an earlier run. */
export function createState(saved?: SavedState): StoreState {
  const state: StoreState = {
    products: indexById(saved?.products),
    accounts: indexById(saved?.accounts),
    purchases: new Map(),
    purchaseIdsByTransaction: new Map(),
    purchaseIdsByAccount: new Map(),
    refundRequests: indexById(saved?.refundRequests),
    lastNumber: saved?.lastNumber ?? firstNumber(),
  };
  for (const purchase of saved?.purchases ?? []) savePurchase(state, purchase);
  return state;
}

/** Converts the state for the state file. */
export const toSavedState = (state: StoreState): SavedState => ({
  products: [...state.products.values()],
  accounts: [...state.accounts.values()],
  purchases: [...state.purchases.values()],
  refundRequests: [...state.refundRequests.values()],
  lastNumber: state.lastNumber,
});

/** Saves a new or changed purchase. */
export function savePurchase(state: StoreState, purchase: Purchase): void {
  state.purchases.set(purchase.id, purchase);
  for (const { transactionId, restores = [] } of purchase.transactions) {
    for (const id of [transactionId, ...restores.map((copy) => copy.transactionId)])
      state.purchaseIdsByTransaction.set(id, purchase.id);
  }
  const owned = state.purchaseIdsByAccount.get(purchase.accountId) ?? new Set();
  state.purchaseIdsByAccount.set(purchase.accountId, owned.add(purchase.id));
}

/** Generates a transaction id in the range of the real store's environment. */
export function nextId(state: StoreState, environment: Environment): string {
  state.lastNumber += 1;
  const base = environment === 'Production' ? 410_000_000_000_000 : 2_000_000_000_000_000;
  return String(base + state.lastNumber);
}

/** Transaction with its purchase and account. */
export interface OwnedTransaction {
  readonly account: Account;
  readonly purchase: Purchase;
  readonly transaction: Transaction;
}

/** Finds a transaction of the environment. */
export function findTransaction(
  state: StoreState,
  environment: Environment,
  transactionId: string,
): OwnedTransaction | undefined {
  const purchase = state.purchases.get(state.purchaseIdsByTransaction.get(transactionId) ?? '');
  const account = state.accounts.get(purchase?.accountId ?? '');
  const transaction = purchase && findTransactionCopy(purchase, transactionId);
  if (!purchase || !account || !transaction || account.environment !== environment) return undefined;
  return { account, purchase, transaction };
}

/** Finds the latest transaction of the customer with this app transaction id. */
export function findByAppTransaction(
  state: StoreState,
  environment: Environment,
  appTransactionId: string,
): OwnedTransaction | undefined {
  const account = [...state.accounts.values()].find(
    (candidate) => candidate.appTransactionId === appTransactionId && candidate.environment === environment,
  );
  const purchase = account && listPurchases(state, account.id).at(-1);
  return purchase && { account, purchase, transaction: getLatestTransaction(purchase) };
}

/** Lists the purchases of an account, the oldest first. */
export function listPurchases(state: StoreState, accountId: string): Purchase[] {
  const ids = [...(state.purchaseIdsByAccount.get(accountId) ?? [])];
  return ids.flatMap((id) => state.purchases.get(id) ?? []);
}

/** Returns the account of a purchase. */
export function getAccount(state: StoreState, purchase: Purchase): Account {
  const account = state.accounts.get(purchase.accountId);
  if (account === undefined) throw new Error(`The account of purchase ${purchase.id} is missing`);
  return account;
}
