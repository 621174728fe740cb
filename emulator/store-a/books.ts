import { randomInt } from 'node:crypto';
import * as v from 'valibot';
import { Account, type Environment, latest, Product, Purchase, type Transaction } from './records.ts';

/** All that the store knows of its customers, with the indexes that its API needs. */
export interface Books {
  readonly products: Map<string, Product>;
  readonly accounts: Map<string, Account>;
  readonly purchases: Map<string, Purchase>;
  readonly purchaseIdsByTransaction: Map<string, string>;
  readonly purchaseIdsByAccount: Map<string, Set<string>>;
  lastNumber: number;
}

/** The books as they are kept over a restart. */
export const SavedBooks = v.object({
  products: v.array(Product),
  accounts: v.array(Account),
  purchases: v.array(Purchase),
  lastNumber: v.number(),
});
type SavedBooks = v.InferOutput<typeof SavedBooks>;

// Far from what another emulator handed out, so that two of them rarely know the same transaction id.
const firstNumber = (): number => randomInt(1_000_000) * 1_000_000;

/** Empty books, or those of an earlier run. */
export function openBooks(saved?: SavedBooks): Books {
  const books: Books = {
    products: new Map(saved?.products.map((product) => [product.id, product])),
    accounts: new Map(saved?.accounts.map((account) => [account.id, account])),
    purchases: new Map(),
    purchaseIdsByTransaction: new Map(),
    purchaseIdsByAccount: new Map(),
    lastNumber: saved?.lastNumber ?? firstNumber(),
  };
  for (const purchase of saved?.purchases ?? []) enter(books, purchase);
  return books;
}

/** The books as `openBooks` takes them again. */
export const savedBooks = (books: Books): SavedBooks => ({
  products: [...books.products.values()],
  accounts: [...books.accounts.values()],
  purchases: [...books.purchases.values()],
  lastNumber: books.lastNumber,
});

/** Writes a purchase down, new or changed. */
export function enter(books: Books, purchase: Purchase): void {
  books.purchases.set(purchase.id, purchase);
  for (const { transactionId } of purchase.transactions) books.purchaseIdsByTransaction.set(transactionId, purchase.id);
  const owned = books.purchaseIdsByAccount.get(purchase.accountId) ?? new Set();
  books.purchaseIdsByAccount.set(purchase.accountId, owned.add(purchase.id));
}

/** A number for a transaction, in the range that the real store uses in this environment. */
export function nextId(books: Books, environment: Environment): string {
  books.lastNumber += 1;
  const base = environment === 'Production' ? 410_000_000_000_000 : 2_000_000_000_000_000;
  return String(base + books.lastNumber);
}

/** A transaction with the purchase that it belongs to and the account that owns it. */
export interface Found {
  readonly account: Account;
  readonly purchase: Purchase;
  readonly transaction: Transaction;
}

/** The transaction with this id, in this environment only. */
export function findTransaction(books: Books, environment: Environment, transactionId: string): Found | undefined {
  const purchase = books.purchases.get(books.purchaseIdsByTransaction.get(transactionId) ?? '');
  const account = books.accounts.get(purchase?.accountId ?? '');
  const transaction = purchase?.transactions.find((candidate) => candidate.transactionId === transactionId);
  if (!purchase || !account || !transaction || account.environment !== environment) return undefined;
  return { account, purchase, transaction };
}

/** The latest transaction of the customer whose download of the application has this id. */
export function findDownload(books: Books, environment: Environment, appTransactionId: string): Found | undefined {
  const account = [...books.accounts.values()].find(
    (one) => one.appTransactionId === appTransactionId && one.environment === environment,
  );
  const purchase = account && purchasesOf(books, account.id).at(-1);
  return purchase && { account, purchase, transaction: latest(purchase) };
}

/** Everything that the account owns, oldest purchase first. */
export function purchasesOf(books: Books, accountId: string): Purchase[] {
  const ids = [...(books.purchaseIdsByAccount.get(accountId) ?? [])];
  return ids.flatMap((id) => books.purchases.get(id) ?? []);
}

/** The product of a transaction. */
export function productNamed(books: Books, productId: string): Product {
  const product = books.products.get(productId);
  if (product === undefined) throw new Error(`The product ${productId} is in no catalogue`);
  return product;
}

/** The account of a purchase. */
export function accountOf(books: Books, purchase: Purchase): Account {
  const account = books.accounts.get(purchase.accountId);
  if (account === undefined) throw new Error(`The purchase ${purchase.id} has no account`);
  return account;
}
