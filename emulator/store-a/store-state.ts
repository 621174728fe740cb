import { randomInt } from 'node:crypto';
import * as v from 'valibot';
import { Account, type Environment, getLatestTransaction, Product, Purchase, type Transaction } from './records.ts';

/** All that the store knows of its customers, with the indexes that its API needs. */
export interface StoreState {
  readonly products: Map<string, Product>;
  readonly accounts: Map<string, Account>;
  readonly purchases: Map<string, Purchase>;
  readonly purchaseIdsByTransaction: Map<string, string>;
  readonly purchaseIdsByAccount: Map<string, Set<string>>;
  lastNumber: number;
}

/** The state as they are kept over a restart. */
export const SavedState = v.object({
  products: v.array(Product),
  accounts: v.array(Account),
  purchases: v.array(Purchase),
  lastNumber: v.number(),
});
type SavedState = v.InferOutput<typeof SavedState>;

// Far from what another emulator handed out, so that two of them rarely know the same transaction id.
const firstNumber = (): number => randomInt(1_000_000) * 1_000_000;

/** Empty state, or those of an earlier run. */
export function createState(saved?: SavedState): StoreState {
  const state: StoreState = {
    products: new Map(saved?.products.map((product) => [product.id, product])),
    accounts: new Map(saved?.accounts.map((account) => [account.id, account])),
    purchases: new Map(),
    purchaseIdsByTransaction: new Map(),
    purchaseIdsByAccount: new Map(),
    lastNumber: saved?.lastNumber ?? firstNumber(),
  };
  for (const purchase of saved?.purchases ?? []) savePurchase(state, purchase);
  return state;
}

/** The state as `openBooks` takes them again. */
export const toSavedState = (state: StoreState): SavedState => ({
  products: [...state.products.values()],
  accounts: [...state.accounts.values()],
  purchases: [...state.purchases.values()],
  lastNumber: state.lastNumber,
});

/** Writes a purchase down, new or changed. */
export function savePurchase(state: StoreState, purchase: Purchase): void {
  state.purchases.set(purchase.id, purchase);
  for (const { transactionId } of purchase.transactions) state.purchaseIdsByTransaction.set(transactionId, purchase.id);
  const owned = state.purchaseIdsByAccount.get(purchase.accountId) ?? new Set();
  state.purchaseIdsByAccount.set(purchase.accountId, owned.add(purchase.id));
}

/** A number for a transaction, in the range that the real store uses in this environment. */
export function nextId(state: StoreState, environment: Environment): string {
  state.lastNumber += 1;
  const base = environment === 'Production' ? 410_000_000_000_000 : 2_000_000_000_000_000;
  return String(base + state.lastNumber);
}

/** A transaction with the purchase that it belongs to and the account that owns it. */
export interface OwnedTransaction {
  readonly account: Account;
  readonly purchase: Purchase;
  readonly transaction: Transaction;
}

/** The transaction with this id, in this environment only. */
export function findTransaction(
  state: StoreState,
  environment: Environment,
  transactionId: string,
): OwnedTransaction | undefined {
  const purchase = state.purchases.get(state.purchaseIdsByTransaction.get(transactionId) ?? '');
  const account = state.accounts.get(purchase?.accountId ?? '');
  const transaction = purchase?.transactions.find((candidate) => candidate.transactionId === transactionId);
  if (!purchase || !account || !transaction || account.environment !== environment) return undefined;
  return { account, purchase, transaction };
}

/** The latest transaction of the customer whose download of the application has this id. */
export function findByAppTransaction(
  state: StoreState,
  environment: Environment,
  appTransactionId: string,
): OwnedTransaction | undefined {
  const account = [...state.accounts.values()].find(
    (one) => one.appTransactionId === appTransactionId && one.environment === environment,
  );
  const purchase = account && listPurchases(state, account.id).at(-1);
  return purchase && { account, purchase, transaction: getLatestTransaction(purchase) };
}

/** Everything that the account owns, oldest purchase first. */
export function listPurchases(state: StoreState, accountId: string): Purchase[] {
  const ids = [...(state.purchaseIdsByAccount.get(accountId) ?? [])];
  return ids.flatMap((id) => state.purchases.get(id) ?? []);
}

/** The product of a transaction. */
export function getProduct(state: StoreState, productId: string): Product {
  const product = state.products.get(productId);
  if (product === undefined) throw new Error(`The product ${productId} is in no catalogue`);
  return product;
}

/** The account of a purchase. */
export function getAccount(state: StoreState, purchase: Purchase): Account {
  const account = state.accounts.get(purchase.accountId);
  if (account === undefined) throw new Error(`The purchase ${purchase.id} has no account`);
  return account;
}
