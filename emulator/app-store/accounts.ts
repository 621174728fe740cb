import { floorToSecond } from '../calendar.ts';
import type { Account, Environment } from './records.ts';
import { nextId, type StoreState } from './store-state.ts';

interface Customer {
  readonly environment: Environment;
  readonly applicationUsername?: string | undefined;
}

/** Finds or creates the store account of a customer. A customer without a username always gets a new account. */
export function getOrCreateAccount(
  state: StoreState,
  { environment, applicationUsername }: Customer,
  now: number,
): Account {
  const accountId = applicationUsername === undefined ? undefined : `${environment}/${applicationUsername}`;
  const existing = state.accounts.get(accountId ?? '');
  if (existing !== undefined) return existing;
  const appTransactionId = nextId(state, environment);
  const account: Account = {
    id: accountId ?? `${environment}#${appTransactionId}`,
    environment,
    ...(applicationUsername !== undefined && { applicationUsername }),
    appTransactionId,
    downloadedAt: floorToSecond(now),
  };
  state.accounts.set(account.id, account);
  return account;
}
