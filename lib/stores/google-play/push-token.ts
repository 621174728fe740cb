import { type CryptoKey, errors, type JWTPayload, jwtVerify } from 'jose';
import { ServiceError } from '../../foundation/errors.ts';
import type { RawNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { findGoogleKey } from './google-keys.ts';
import type { GooglePlaySettings } from './settings.ts';

const issuer = ['https://accounts.google.com', 'accounts.google.com'];
const clockToleranceSeconds = 60;

type VerificationContext = Pick<StoreContext, 'fetch' | 'now'>;

/**
 * Verifies that the app's Pub/Sub subscription sent a push, by its OIDC token. Any Google account can get a token for
 * our audience, so the email claim is decisive. Throws `Forbidden`, or `ConnectionFailed` if Google's keys are
 * unavailable.
 * @see https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions
 */
export async function verifyPushToken(
  { headers }: RawNotification,
  { pushAudience, pushServiceAccount }: GooglePlaySettings,
  context: VerificationContext,
): Promise<void> {
  if (pushAudience === undefined || pushServiceAccount === undefined) {
    throw forbiddenError('pushAudience or pushServiceAccount is missing in the store_b settings.');
  }
  const token = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (token === undefined) {
    throw forbiddenError('The push token is missing: enable authentication in the Pub/Sub subscription.');
  }
  const { aud, email, email_verified: isVerified } = await verifyToken(token, context);
  const audiences = [aud ?? []].flat().map((audience) => audience.toLowerCase());
  if (!audiences.includes(pushAudience.toLowerCase())) throw forbiddenError('The push token has another audience.');
  const isAccount = typeof email === 'string' && email.toLowerCase() === pushServiceAccount.toLowerCase();
  if (!isAccount || isVerified !== true) throw forbiddenError('The push token belongs to another service account.');
}

async function verifyToken(token: string, context: VerificationContext): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, async ({ kid }) => await findKey(kid, context), {
      algorithms: ['RS256'],
      issuer,
      requiredClaims: ['exp', 'aud', 'email'],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(context.now()),
    });
    return payload;
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
    throw forbiddenError('The push token is invalid or has expired.', error);
  }
}

async function findKey(kid: string | undefined, context: VerificationContext): Promise<CryptoKey> {
  const key = kid === undefined ? undefined : await findGoogleKey(kid, context);
  if (!key) throw forbiddenError('The push token is not signed by Google.');
  return key;
}

const forbiddenError = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('Forbidden', message, { cause });
