import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { parse } from '../../foundation/parse.ts';
import { lenientOptional } from '../parse-response.ts';
import type { StoreNotification } from '../store.ts';
import { verifyJws } from './jws.ts';
import { Environment, type RenewalPayload, type TransactionPayload } from './payloads.ts';
import { type VerificationContext, verifyAppTransaction, verifyRenewal, verifyTransaction } from './verification.ts';

/** Identifies the app. Contained in `data`, `summary`, `externalPurchaseToken` or `appData`, depending on the type. */
const AppReference = v.looseObject({
  bundleId: v.string(),
  appAppleId: v.exactOptional(v.number()),
  environment: v.exactOptional(v.string()),
  externalPurchaseId: v.exactOptional(v.string()),
});
type AppReference = v.InferOutput<typeof AppReference>;

/** A parent withdrew the consent for the customer of `appData`. */
const rescindType = 'RESCIND_CONSENT';

const OptionalJws = v.exactOptional(v.string());

/** @see https://developer.apple.com/documentation/appstoreservernotifications/externalpurchasetoken */
const ExternalPurchaseToken = v.object({
  externalPurchaseId: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  tokenCreationDate: lenientOptional(v.pipe(v.number(), v.minValue(0), v.maxValue(8.64e15))),
});

/** @see https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload */
const NotificationBody = v.looseObject({
  notificationType: v.pipe(v.string(), v.minLength(1)),
  subtype: v.exactOptional(v.string()),
  notificationUUID: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  signedDate: v.number(),
  data: v.exactOptional(
    v.looseObject({
      status: v.exactOptional(v.number()),
      signedTransactionInfo: OptionalJws,
      signedRenewalInfo: OptionalJws,
      consumptionRequestReason: v.exactOptional(v.string()),
    }),
  ),
  appData: lenientOptional(v.looseObject({ signedAppTransactionInfo: v.string() })),
  externalPurchaseToken: lenientOptional(ExternalPurchaseToken),
});

/** `payload` of the `StoreNotification`: the parts that are used. Each JWS has its own signature. */
const NotificationPayload = v.object({
  status: v.exactOptional(v.number()),
  transaction: OptionalJws,
  renewal: OptionalJws,
  consumptionRequestReason: v.exactOptional(v.string()),
  /** The download of the app by the customer of a rescinded consent. */
  appTransaction: OptionalJws,
  externalPurchase: v.exactOptional(ExternalPurchaseToken),
});
type NotificationPayload = v.InferOutput<typeof NotificationPayload>;

/** The verified parts of a notification. */
export interface SignedParts {
  readonly environment: Environment;
  readonly status?: number;
  readonly transaction: TransactionPayload;
  readonly renewal?: RenewalPayload;
}

/**
 * Verifies and parses an App Store Server Notification V2. Throws `Forbidden` if Apple did not sign it as a
 * notification or if it is for another app, and `InvalidPayload` if it is signed but not as documented.
 */
export function parseNotification(signedPayload: string, verification: VerificationContext): StoreNotification {
  const body = verifyOuterPayload(signedPayload, verification);
  // Customers have their own signed transactions, which are valid JWS of the App Store.
  if (!('notificationType' in body)) throw new ServiceError('Forbidden', 'signedPayload is not a notification.');
  const appReference = requireOwnApp(body, verification);
  const {
    notificationType,
    subtype,
    notificationUUID,
    signedDate,
    data = {},
    ...others
  } = parse(NotificationBody, body);
  const { status, signedTransactionInfo: transaction, signedRenewalInfo: renewal, consumptionRequestReason } = data;
  const appTransaction =
    notificationType === rescindType ? dropInvalid(others.appData?.signedAppTransactionInfo, verification) : undefined;
  const externalPurchase = others.externalPurchaseToken;
  const payload = omitUndefined({
    status,
    transaction,
    renewal,
    consumptionRequestReason,
    appTransaction,
    externalPurchase,
  });
  const parts = verifyParts(payload, verification);
  if (parts && parts.environment !== (appReference.environment ?? parts.environment)) throw otherEnvironmentError();
  return {
    key: notificationUUID,
    type: subtype ? `${notificationType}.${subtype}` : notificationType,
    occurredAt: signedDate,
    payload,
  };
}

/**
 * Returns undefined for an app transaction that is not valid. The notification is recorded without its customer,
 * because the App Store would send the same content again.
 */
function dropInvalid(appTransaction: string | undefined, verification: VerificationContext): string | undefined {
  if (appTransaction === undefined) return undefined;
  try {
    verifyAppTransaction(appTransaction, verification);
    return appTransaction;
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

/** Returns undefined if the notification does not concern a purchase. Throws `InvalidPayload`. */
export const verifySignedParts = (
  { payload }: StoreNotification,
  verification: VerificationContext,
): SignedParts | undefined => verifyParts(parse(NotificationPayload, payload), verification);

/** Returns the used parts of a notification. Their signatures are not verified. */
export const parseNotificationPayload = ({ payload }: StoreNotification): NotificationPayload =>
  parse(NotificationPayload, payload);

function verifyParts(
  { status, transaction: transactionJws, renewal: renewalJws }: NotificationPayload,
  verification: VerificationContext,
): SignedParts | undefined {
  if (transactionJws === undefined) return undefined;
  const transaction = verifyTransaction(transactionJws, verification);
  const renewal = renewalJws === undefined ? undefined : verifyRenewal(renewalJws, verification);
  if (renewal && renewal.environment !== transaction.environment) throw otherEnvironmentError();
  return { environment: transaction.environment, transaction, ...omitUndefined({ status, renewal }) };
}

function verifyOuterPayload(
  signedPayload: string,
  { signedDataRoots, now }: VerificationContext,
): Readonly<Record<string, unknown>> {
  try {
    return verifyJws(signedPayload, signedDataRoots, now);
  } catch (error) {
    const { code, message } = ServiceError.fromUnknown(error);
    if (code !== 'InvalidPayload') throw error;
    throw new ServiceError('Forbidden', message, { cause: error });
  }
}

/** Searches all members for the app: Apple adds members for new notification types. */
function requireOwnApp(
  body: Readonly<Record<string, unknown>>,
  { bundleId, appAppleId }: VerificationContext,
): AppReference {
  const appReference = Object.values(body).find((member): member is AppReference => v.is(AppReference, member));
  if (!appReference) throw new ServiceError('InvalidPayload', 'bundleId is missing.');
  const { environment } = appReference;
  const isOtherId = appAppleId !== undefined && isProduction(appReference) && appReference.appAppleId !== appAppleId;
  if (appReference.bundleId !== bundleId || isOtherId)
    throw new ServiceError('Forbidden', 'The notification is for another app.');
  if (environment !== undefined && !v.is(Environment, environment))
    throw new ServiceError('Forbidden', 'environment is not valid.');
  return appReference;
}

/**
 * An external purchase token has an id instead of an environment.
 * @see https://developer.apple.com/documentation/appstoreservernotifications/externalpurchaseid
 */
const isProduction = ({ environment, externalPurchaseId = '' }: AppReference): boolean =>
  environment === undefined ? !isSandboxToken(externalPurchaseId) : environment === 'Production';

export const isSandboxToken = (externalPurchaseId: string): boolean => externalPurchaseId.startsWith('SANDBOX');

const otherEnvironmentError = (): ServiceError =>
  new ServiceError('InvalidPayload', 'A part of the notification is from another environment.');
