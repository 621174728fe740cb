import { errors, type JWTPayload, jwtVerify } from 'jose';
import { ServiceError } from '../../shared/errors.ts';
import type { RawNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { findGoogleKey } from './google-keys.ts';
import type { StoreBSettings } from './settings.ts';

const issuer = ['https://accounts.google.com', 'accounts.google.com'];
const clockToleranceSeconds = 60;

/**
 * Checks that the push comes from the application's Pub/Sub subscription: Google's token in its header is for our audience
 * and of the service account that the operator chose. Anybody at Google can get a token for our audience, so the account
 * is what counts. Throws `Forbidden`, and `ConnectionFailed` when Google's keys cannot be read now.
 */
export async function verifyPushToken(
  { headers }: RawNotification,
  { pushAudience, pushServiceAccount }: StoreBSettings,
  context: StoreContext,
): Promise<void> {
  if (pushAudience === undefined || pushServiceAccount === undefined) {
    throw forbiddenError('Notifications of store_b need pushAudience and pushServiceAccount in the settings.');
  }
  const token = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (token === undefined) {
    throw forbiddenError('The push carries no token: switch on authentication in the Pub/Sub subscription.');
  }
  const { aud, email, email_verified: isVerified } = await verifyToken(token, context);
  const audiences = [aud ?? []].flat().map((audience) => audience.toLowerCase());
  if (!audiences.includes(pushAudience.toLowerCase())) throw forbiddenError('The token is for another audience.');
  const isAccount = typeof email === 'string' && email.toLowerCase() === pushServiceAccount.toLowerCase();
  if (!isAccount || isVerified !== true) throw forbiddenError('The token is of another service account.');
}

async function verifyToken(token: string, context: StoreContext): Promise<JWTPayload> {
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
    throw forbiddenError("The token is not Google's, or it has expired.", error);
  }
}

async function findKey(kid: string | undefined, context: StoreContext) {
  const key = kid === undefined ? undefined : await findGoogleKey(kid, context);
  if (!key) throw forbiddenError('The token is signed with none of the keys of Google.');
  return key;
}

const forbiddenError = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('Forbidden', message, { cause });
