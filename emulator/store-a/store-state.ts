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

/** The books as they are kept over a restart. */
export const SavedState = v.object({
  products: v.array(Product),
  accounts: v.array(Account),
  purchases: v.array(Purchase),
  lastNumber: v.number(),
});
type SavedState = v.InferOutput<typeof SavedState>;

// Far from what another emulator handed out, so that two of them rarely know the same transaction id.
const firstNumber = (): number => randomInt(1_000_000) * 1_000_000;

/** Empty books, or those of an earlier run. */
export function createState(saved?: SavedState): StoreState {
  const books: StoreState = {
    products: new Map(saved?.products.map((product) => [product.id, product])),
    accounts: new Map(saved?.accounts.map((account) => [account.id, account])),
    purchases: new Map(),
    purchaseIdsByTransaction: new Map(),
    purchaseIdsByAccount: new Map(),
    lastNumber: saved?.lastNumber ?? firstNumber(),
  };
  for (const purchase of saved?.purchases ?? []) savePurchase(books, purchase);
  return books;
}

/** The books as `openBooks` takes them again. */
export const toSavedState = (books: StoreState): SavedState => ({
  products: [...books.products.values()],
  accounts: [...books.accounts.values()],
  purchases: [...books.purchases.values()],
  lastNumber: books.lastNumber,
});

/** Writes a purchase down, new or changed. */
export function savePurchase(books: StoreState, purchase: Purchase): void {
  books.purchases.set(purchase.id, purchase);
  for (const { transactionId } of purchase.transactions) books.purchaseIdsByTransaction.set(transactionId, purchase.id);
  const owned = books.purchaseIdsByAccount.get(purchase.accountId) ?? new Set();
  books.purchaseIdsByAccount.set(purchase.accountId, owned.add(purchase.id));
}

/** A number for a transaction, in the range that the real store uses in this environment. */
export function nextId(books: StoreState, environment: Environment): string {
  books.lastNumber += 1;
  const base = environment === 'Production' ? 410_000_000_000_000 : 2_000_000_000_000_000;
  return String(base + books.lastNumber);
}

/** A transaction with the purchase that it belongs to and the account that owns it. */
export interface FoundTransaction {
  readonly account: Account;
  readonly purchase: Purchase;
  readonly transaction: Transaction;
}

/** The transaction with this id, in this environment only. */
export function findTransaction(
  books: StoreState,
  environment: Environment,
  transactionId: string,
): FoundTransaction | undefined {
  const purchase = books.purchases.get(books.purchaseIdsByTransaction.get(transactionId) ?? '');
  const account = books.accounts.get(purchase?.accountId ?? '');
  const transaction = purchase?.transactions.find((candidate) => candidate.transactionId === transactionId);
  if (!purchase || !account || !transaction || account.environment !== environment) return undefined;
  return { account, purchase, transaction };
}

/** The latest transaction of the customer whose download of the application has this id. */
export function findByAppTransaction(
  books: StoreState,
  environment: Environment,
  appTransactionId: string,
): FoundTransaction | undefined {
  const account = [...books.accounts.values()].find(
    (one) => one.appTransactionId === appTransactionId && one.environment === environment,
  );
  const purchase = account && listPurchases(books, account.id).at(-1);
  return purchase && { account, purchase, transaction: getLatestTransaction(purchase) };
}

/** Everything that the account owns, oldest purchase first. */
export function listPurchases(books: StoreState, accountId: string): Purchase[] {
  const ids = [...(books.purchaseIdsByAccount.get(accountId) ?? [])];
  return ids.flatMap((id) => books.purchases.get(id) ?? []);
}

/** The product of a transaction. */
export function getProduct(books: StoreState, productId: string): Product {
  const product = books.products.get(productId);
  if (product === undefined) throw new Error(`The product ${productId} is in no catalogue`);
  return product;
}

/** The account of a purchase. */
export function getAccount(books: StoreState, purchase: Purchase): Account {
  const account = books.accounts.get(purchase.accountId);
  if (account === undefined) throw new Error(`The purchase ${purchase.id} has no account`);
  return account;
}
