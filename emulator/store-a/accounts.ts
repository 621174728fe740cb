import { floorToSecond } from '../calendar.ts';
import type { Account, Environment } from './records.ts';
import { nextId, type StoreState } from './store-state.ts';

interface Customer {
  readonly environment: Environment;
  readonly applicationUsername?: string | undefined;
}

/** The store account of the customer, opened when there is none: everyone without a user name is somebody else. */
export function getOrCreateAccount(
  books: StoreState,
  { environment, applicationUsername }: Customer,
  now: number,
): Account {
  const named = applicationUsername === undefined ? undefined : `${environment}/${applicationUsername}`;
  const known = books.accounts.get(named ?? '');
  if (known !== undefined) return known;
  const appTransactionId = nextId(books, environment);
  const account: Account = {
    id: named ?? `${environment}#${appTransactionId}`,
    environment,
    ...(applicationUsername !== undefined && { applicationUsername }),
    appTransactionId,
    downloadedAt: floorToSecond(now),
  };
  books.accounts.set(account.id, account);
  return account;
}
