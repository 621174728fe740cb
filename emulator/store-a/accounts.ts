import { floorToSecond } from '../calendar.ts';
import type { Account, Environment } from './records.ts';
import { nextId, type StoreState } from './store-state.ts';

interface Customer {
  readonly environment: Environment;
  readonly applicationUsername?: string | undefined;
}

/** The store account of the customer, opened when there is none: everyone without a user name is somebody else. */
export function getOrCreateAccount(
  state: StoreState,
  { environment, applicationUsername }: Customer,
  now: number,
): Account {
  const named = applicationUsername === undefined ? undefined : `${environment}/${applicationUsername}`;
  const known = state.accounts.get(named ?? '');
  if (known !== undefined) return known;
  const appTransactionId = nextId(state, environment);
  const account: Account = {
    id: named ?? `${environment}#${appTransactionId}`,
    environment,
    ...(applicationUsername !== undefined && { applicationUsername }),
    appTransactionId,
    downloadedAt: floorToSecond(now),
  };
  state.accounts.set(account.id, account);
  return account;
}
