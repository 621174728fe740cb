import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { parse } from '../../shared/parse.ts';
import type { StoreNotification } from '../store.ts';
import { verifyJws } from './jws.ts';
import { Environment, type RenewalPayload, type TransactionPayload } from './payloads.ts';
import { type VerificationContext, verifyRenewal, verifyTransaction } from './verification.ts';

/** What every kind of notification says of the application: in `data`, `summary`, `externalPurchaseToken` or `appData`. */
const AppReference = v.looseObject({
  bundleId: v.string(),
  appAppleId: v.exactOptional(v.number()),
  environment: v.exactOptional(v.string()),
});
type AppReference = v.InferOutput<typeof AppReference>;

const OptionalJws = v.exactOptional(v.string());

const Notification = v.looseObject({
  notificationType: v.pipe(v.string(), v.minLength(1)),
  subtype: v.exactOptional(v.string()),
  notificationUUID: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  signedDate: v.number(),
  data: v.exactOptional(
    v.looseObject({
      status: v.exactOptional(v.number()),
      signedTransactionInfo: OptionalJws,
      signedRenewalInfo: OptionalJws,
    }),
  ),
});

/** The parts of a notification that tell of a purchase, each signed by itself. */
const NotificationPayload = v.object({
  status: v.exactOptional(v.number()),
  transaction: OptionalJws,
  renewal: OptionalJws,
});
type NotificationPayload = v.InferOutput<typeof NotificationPayload>;

/** What the parts say. */
export interface SignedParts {
  readonly environment: Environment;
  readonly status?: number;
  readonly transaction: TransactionPayload;
  readonly renewal?: RenewalPayload;
}

/**
 * The message of a notification that Apple signed for this application. Throws `Forbidden` for what Apple did not sign, or
 * for another application, and `InvalidPayload` for what it did sign and is not understood.
 */
export function parseNotification(signedPayload: string, trust: VerificationContext): StoreNotification {
  const payload = verifyOuterPayload(signedPayload, trust);
  const about = requireOwnApp(payload, trust);
  const { notificationType, subtype, notificationUUID, signedDate, data = {} } = parse(Notification, payload);
  const { status, signedTransactionInfo: transaction, signedRenewalInfo: renewal } = data;
  const content = omitUndefined({ status, transaction, renewal });
  const parts = verifyParts(content, trust);
  if (parts && parts.environment !== (about.environment ?? parts.environment)) throw otherEnvironmentError();
  return {
    key: notificationUUID,
    type: subtype ? `${notificationType}.${subtype}` : notificationType,
    occurredAt: signedDate,
    payload: content,
  };
}

/** The verified parts of a message; undefined when it tells of no purchase. Throws `InvalidPayload`. */
export const verifySignedParts = (
  { payload }: StoreNotification,
  trust: VerificationContext,
): SignedParts | undefined => verifyParts(parse(NotificationPayload, payload), trust);

function verifyParts(
  { status, transaction: jws, renewal }: NotificationPayload,
  trust: VerificationContext,
): SignedParts | undefined {
  if (jws === undefined) return undefined;
  const transaction = verifyTransaction(jws, trust);
  const parts = { status, renewal: renewal === undefined ? undefined : verifyRenewal(renewal, trust) };
  if (parts.renewal && parts.renewal.environment !== transaction.environment) throw otherEnvironmentError();
  return { environment: transaction.environment, transaction, ...omitUndefined(parts) };
}

function verifyOuterPayload(signedPayload: string, trust: VerificationContext): Readonly<Record<string, unknown>> {
  try {
    return verifyJws(signedPayload, trust.signedData, trust.now);
  } catch (error) {
    const { code, message } = ServiceError.fromUnknown(error);
    if (code !== 'InvalidPayload') throw error;
    throw new ServiceError('Forbidden', message, { cause: error });
  }
}

/** Apple adds members for new kinds: whichever names an application is the one. */
function requireOwnApp(
  payload: Readonly<Record<string, unknown>>,
  { bundleId, appAppleId }: VerificationContext,
): AppReference {
  const about = Object.values(payload).find((member): member is AppReference => v.is(AppReference, member));
  if (!about) throw new ServiceError('InvalidPayload', 'The notification names no application.');
  const isOther = appAppleId !== undefined && about.environment === 'Production' && about.appAppleId !== appAppleId;
  if (about.bundleId !== bundleId || isOther) throw forbiddenError('The notification is for another application.');
  if (about.environment !== undefined && !v.is(Environment, about.environment)) {
    throw forbiddenError('The notification is from no environment of the App Store.');
  }
  return about;
}

const forbiddenError = (message: string): ServiceError => new ServiceError('Forbidden', message);

const otherEnvironmentError = (): ServiceError =>
  new ServiceError('InvalidPayload', 'A part of the notification is from another environment.');
