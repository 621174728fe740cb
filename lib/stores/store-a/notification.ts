import * as v from 'valibot';
import { defined } from '../../defined.ts';
import { ServiceError } from '../../errors.ts';
import { parse } from '../../parse.ts';
import type { StoreMessage } from '../store.ts';
import { verifiedPayload } from './jws.ts';
import { Environment, type RenewalPayload, type TransactionPayload } from './payloads.ts';
import { type Trust, verifiedRenewal, verifiedTransaction } from './trust.ts';

/** What every kind of notification says of the application: in `data`, `summary`, `externalPurchaseToken` or `appData`. */
const About = v.looseObject({
  bundleId: v.string(),
  appAppleId: v.exactOptional(v.number()),
  environment: v.exactOptional(v.string()),
});
type About = v.InferOutput<typeof About>;

const Signed = v.exactOptional(v.string());

const Notification = v.looseObject({
  notificationType: v.pipe(v.string(), v.minLength(1)),
  subtype: v.exactOptional(v.string()),
  notificationUUID: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  signedDate: v.number(),
  data: v.exactOptional(
    v.looseObject({ status: v.exactOptional(v.number()), signedTransactionInfo: Signed, signedRenewalInfo: Signed }),
  ),
});

/** The parts of a notification that tell of a purchase, each signed by itself. */
const Content = v.object({
  status: v.exactOptional(v.number()),
  transaction: Signed,
  renewal: Signed,
});
type Content = v.InferOutput<typeof Content>;

/** What the parts say. */
export interface Parts {
  readonly environment: Environment;
  readonly status?: number;
  readonly transaction: TransactionPayload;
  readonly renewal?: RenewalPayload;
}

/**
 * The message of a notification that Apple signed for this application. Throws `Forbidden` for what Apple did not sign, or
 * for another application, and `InvalidPayload` for what it did sign and is not understood.
 */
export function messageOf(signedPayload: string, trust: Trust): StoreMessage {
  const payload = signedByApple(signedPayload, trust);
  const about = ours(payload, trust);
  const { notificationType, subtype, notificationUUID, signedDate, data = {} } = parse(Notification, payload);
  const { status, signedTransactionInfo: transaction, signedRenewalInfo: renewal } = data;
  const content = defined({ status, transaction, renewal });
  const parts = partsOf(content, trust);
  if (parts && parts.environment !== (about.environment ?? parts.environment)) throw otherEnvironment();
  return {
    key: notificationUUID,
    type: subtype ? `${notificationType}.${subtype}` : notificationType,
    at: signedDate,
    content,
  };
}

/** The verified parts of a message; undefined when it tells of no purchase. Throws `InvalidPayload`. */
export const partsIn = ({ content }: StoreMessage, trust: Trust): Parts | undefined =>
  partsOf(parse(Content, content), trust);

function partsOf({ status, transaction: jws, renewal }: Content, trust: Trust): Parts | undefined {
  if (jws === undefined) return undefined;
  const transaction = verifiedTransaction(jws, trust);
  const parts = { status, renewal: renewal === undefined ? undefined : verifiedRenewal(renewal, trust) };
  if (parts.renewal && parts.renewal.environment !== transaction.environment) throw otherEnvironment();
  return { environment: transaction.environment, transaction, ...defined(parts) };
}

function signedByApple(signedPayload: string, trust: Trust): Readonly<Record<string, unknown>> {
  try {
    return verifiedPayload(signedPayload, trust.signedData, trust.now);
  } catch (thrown) {
    const { code, message } = ServiceError.from(thrown);
    if (code !== 'InvalidPayload') throw thrown;
    throw new ServiceError('Forbidden', message, { cause: thrown });
  }
}

/** Apple adds members for new kinds: whichever names an application is the one. */
function ours(payload: Readonly<Record<string, unknown>>, { bundleId, appAppleId }: Trust): About {
  const about = Object.values(payload).find((member): member is About => v.is(About, member));
  if (!about) throw new ServiceError('InvalidPayload', 'The notification names no application.');
  const isOther = appAppleId !== undefined && about.environment === 'Production' && about.appAppleId !== appAppleId;
  if (about.bundleId !== bundleId || isOther) throw forbidden('The notification is for another application.');
  if (about.environment !== undefined && !v.is(Environment, about.environment)) {
    throw forbidden('The notification is from no environment of the App Store.');
  }
  return about;
}

const forbidden = (message: string): ServiceError => new ServiceError('Forbidden', message);

const otherEnvironment = (): ServiceError =>
  new ServiceError('InvalidPayload', 'A part of the notification is from another environment.');
