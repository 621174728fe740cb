import { signJwt } from '../crypto/jwt.ts';
import type { NotificationDeliveries } from '../emulated-store.ts';
import type { StoreResponseContext } from '../response-context.ts';
import type { Keys } from './keys.ts';
import { buildAppTransactionPayload, buildRenewalPayload, buildTransactionPayload } from './payloads.ts';
import type { Account } from './records.ts';
import type { OwnedTransaction, StoreState } from './store-state.ts';

/** Data from which the store builds responses. */
export interface ResponseContext extends StoreResponseContext<StoreState, Keys> {
  readonly deliveries: NotificationDeliveries;
}

/**
 * Signs a payload as JWS with the certificate chain in its header.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/jwsdecodedheader
 */
export const signPayload = ({ signedData: { privateKey, chain } }: Keys, payload: object): string =>
  signJwt({ alg: 'ES256', x5c: chain }, payload, privateKey);

/** Signs a transaction, for the API and for the device. */
export const signTransaction = ({ state, keys, now }: ResponseContext, owned: OwnedTransaction): string =>
  signPayload(keys, buildTransactionPayload(state, owned, now()));

/** Signs the renewal information of a subscription. */
export const signRenewal = (
  { keys, now }: ResponseContext,
  owned: Pick<OwnedTransaction, 'account' | 'purchase'>,
): string => signPayload(keys, buildRenewalPayload(owned, now()));

/** Signs the app transaction of a customer. */
export const signAppTransaction = ({ keys, now }: ResponseContext, account: Account): string =>
  signPayload(keys, buildAppTransactionPayload(account, now()));
