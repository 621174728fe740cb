import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { indexById } from '../index-by-id.ts';
import { Product } from '../product.ts';
import { Account, ClawbackMessage, Purchase } from './records.ts';

/** Products, accounts, purchases and clawback queue of the store. */
export interface StoreState {
  readonly products: Map<string, Product>;
  readonly accounts: Map<string, Account>;
  readonly purchases: Map<string, Purchase>;
  /** Clawback messages by the payment and the number of its event. */
  readonly clawbacks: Map<string, ClawbackMessage>;
}

/** State in the state file. */
export const SavedState = v.object({
  products: v.array(Product),
  accounts: v.array(Account),
  purchases: v.array(Purchase),
  clawbacks: v.exactOptional(v.array(ClawbackMessage)),
});
type SavedState = v.InferOutput<typeof SavedState>;

/** Creates an empty state, or restores the state of an earlier run. */
export const createState = (saved?: SavedState): StoreState => ({
  products: indexById(saved?.products),
  accounts: indexById(saved?.accounts),
  purchases: indexById(saved?.purchases),
  clawbacks: new Map(saved?.clawbacks?.map((message) => [message.lineItemId, message])),
});

/** Converts the state for the state file. */
export const toSavedState = (state: StoreState): SavedState => ({
  products: [...state.products.values()],
  accounts: [...state.accounts.values()],
  purchases: [...state.purchases.values()],
  clawbacks: [...state.clawbacks.values()],
});

/** Finds or creates the account of a customer. A customer without a username always gets a new account. */
export function getOrCreateAccount(state: StoreState, applicationUsername?: string): Account {
  const existing = applicationUsername === undefined ? undefined : findAccount(state, applicationUsername);
  if (existing !== undefined) return existing;
  const account: Account = { id: randomUUID(), ...(applicationUsername !== undefined && { applicationUsername }) };
  state.accounts.set(account.id, account);
  return account;
}

/** Finds the account of a customer by username. */
export const findAccount = (state: StoreState, applicationUsername: string): Account | undefined =>
  [...state.accounts.values()].find((account) => account.applicationUsername === applicationUsername);

/** Lists the purchases of an account in a sandbox, the oldest first. */
export const listPurchases = (state: StoreState, { id }: Account, sandboxId: string): Purchase[] =>
  [...state.purchases.values()].filter(
    (purchase) => purchase.accountId === id && purchase.sandboxId.toUpperCase() === sandboxId.toUpperCase(),
  );

/** Returns the account of a purchase. */
export function getAccount(state: StoreState, { id, accountId }: Purchase): Account {
  const account = state.accounts.get(accountId);
  if (account === undefined) throw new Error(`The account of purchase ${id} is missing`);
  return account;
}
