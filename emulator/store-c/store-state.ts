import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { Account, ClawbackMessage, Product, Purchase } from './records.ts';

/** All that the store knows of its customers. */
export interface StoreState {
  readonly products: Map<string, Product>;
  readonly accounts: Map<string, Account>;
  readonly purchases: Map<string, Purchase>;
  /** By the line item that was paid back. */
  readonly clawbacks: Map<string, ClawbackMessage>;
}

/** The state as they are kept over a restart. */
export const SavedState = v.object({
  products: v.array(Product),
  accounts: v.array(Account),
  purchases: v.array(Purchase),
  clawbacks: v.exactOptional(v.array(ClawbackMessage)),
});
type SavedState = v.InferOutput<typeof SavedState>;

const byId = <T extends { readonly id: string }>(records: readonly T[] = []): Map<string, T> =>
  new Map(records.map((record) => [record.id, record]));

/** Empty state, or those of an earlier run. */
export const createState = (saved?: SavedState): StoreState => ({
  products: byId(saved?.products),
  accounts: byId(saved?.accounts),
  purchases: byId(saved?.purchases),
  clawbacks: new Map(saved?.clawbacks?.map((message) => [message.lineItemId, message])),
});

/** The state as `openBooks` takes them again. */
export const toSavedState = (state: StoreState): SavedState => ({
  products: [...state.products.values()],
  accounts: [...state.accounts.values()],
  purchases: [...state.purchases.values()],
  clawbacks: [...state.clawbacks.values()],
});

/** The account of the customer, made at the first order; without a name each order is another customer's. */
export function getOrCreateAccount(state: StoreState, applicationUsername?: string): Account {
  const known = applicationUsername === undefined ? undefined : findAccount(state, applicationUsername);
  if (known !== undefined) return known;
  const account: Account = { id: randomUUID(), ...(applicationUsername !== undefined && { applicationUsername }) };
  state.accounts.set(account.id, account);
  return account;
}

/** The account of the customer whom the application knows by this name. */
export const findAccount = (state: StoreState, applicationUsername: string): Account | undefined =>
  [...state.accounts.values()].find((account) => account.applicationUsername === applicationUsername);

/** Everything that the account owns in that sandbox, oldest purchase first. */
export const listPurchases = (state: StoreState, { id }: Account, sandboxId: string): Purchase[] =>
  [...state.purchases.values()].filter(
    (purchase) => purchase.accountId === id && purchase.sandboxId.toUpperCase() === sandboxId.toUpperCase(),
  );

/** The product of a purchase. */
export function getProduct(state: StoreState, { productId }: Purchase): Product {
  const product = state.products.get(productId);
  if (product === undefined) throw new Error(`The product ${productId} is in no catalogue`);
  return product;
}

/** The account of a purchase. */
export function getAccount(state: StoreState, { id, accountId }: Purchase): Account {
  const account = state.accounts.get(accountId);
  if (account === undefined) throw new Error(`The purchase ${id} has no account`);
  return account;
}
