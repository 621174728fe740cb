import type { NotificationDeliveries } from '../emulated-store.ts';
import type { Keys } from './keys.ts';
import { buildAppTransactionPayload, buildRenewalPayload, buildTransactionPayload } from './payloads.ts';
import type { Account, Purchase } from './records.ts';
import { signJws } from './signed-data.ts';
import type { OwnedTransaction, StoreState } from './store-state.ts';

/** What answers are made of: the state, the keys to sign with, the time and the notifications on their way. */
export interface ResponseContext {
  readonly state: StoreState;
  readonly keys: Keys;
  readonly now: () => number;
  readonly deliveries: NotificationDeliveries;
}

/** A transaction as the store signs it, for its API and for the device. */
export const signTransaction = ({ state, keys, now }: ResponseContext, found: OwnedTransaction): string =>
  signJws(keys.signedData, buildTransactionPayload(state, found, now()));

/** What comes next for a subscription, signed. */
export const signRenewal = ({ keys, now }: ResponseContext, owned: { account: Account; purchase: Purchase }): string =>
  signJws(keys.signedData, buildRenewalPayload(owned, now()));

/** The customer's download of the application, signed. */
export const signAppTransaction = ({ keys, now }: ResponseContext, account: Account): string =>
  signJws(keys.signedData, buildAppTransactionPayload(account, now()));
