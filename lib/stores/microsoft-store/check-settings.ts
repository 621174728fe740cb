import { type Diagnosis, findRejection, type SettingsRejection, type SettingsWarning } from '../settings.ts';
import type { Store } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { createQueueSession, fetchQueueUrl } from './clawback-queue.ts';
import { evictAccessToken, getAccessToken } from './entra.ts';
import { createSession } from './session.ts';
import { parseEnteredSettings, parseStoredSettings } from './settings.ts';

/** Checks the settings of an app. `callStore` adds requests for tokens of all audiences. */
export async function checkSettings(
  context: StoreContext,
  { callStore }: Parameters<Store['checkSettings']>[1],
): Promise<string> {
  parseEnteredSettings(context.settings);
  if (!callStore) return 'The format is valid.';
  const session = createSession(context);
  const audiences = ['services', 'collections', 'purchase'] as const;
  // A cached token would hide an expired secret for up to an hour.
  for (const audience of audiences) evictAccessToken(session, audience);
  await Promise.all(audiences.map((audience) => getAccessToken(session, audience)));
  return 'Microsoft Entra ID issued access tokens and service tickets.';
}

/** @see https://learn.microsoft.com/en-us/entra/identity-platform/reference-error-codes */
export function describeRejection({ rejection, message }: SettingsRejection, settings: unknown): Diagnosis {
  const { tenantId, clientId } = parseStoredSettings(settings);
  switch (rejection) {
    case 'expired':
      return {
        problem: `The client secret of the Entra application ${clientId} has expired.`,
        cure: 'Create a client secret in the Entra admin center, App registrations, Certificates and secrets, and run `app set-store`.',
      };
    case 'app':
      return {
        problem: `Microsoft Entra ID does not have the application ${clientId} in the tenant ${tenantId}.`,
        cure: 'Copy tenantId and clientId from the overview of the App registration in the Entra admin center, and run `app set-store`.',
      };
    default:
      return {
        problem: `Microsoft Entra ID rejects the client secret of the application ${clientId} (${message}).`,
        cure: 'Copy the value of the client secret, not its id, or create a client secret in the Entra admin center, and run `app set-store`.',
      };
  }
}

/**
 * @see https://learn.microsoft.com/en-us/gaming/gdk/_content/gc/commerce/service-to-service/microsoft-store-apis/xstore-v8-clawbackv2-sastoken
 */
export async function listSettingsWarnings(context: StoreContext): Promise<readonly SettingsWarning[]> {
  const { clientId } = parseStoredSettings(context.settings);
  try {
    await fetchQueueUrl(createQueueSession(context));
    return [];
  } catch (error) {
    if (findRejection(error)?.rejection !== 'permission') throw error;
    return [
      {
        code: 'clawbacks-unreadable',
        problem: `The Entra application ${clientId} lacks access to the clawback queue, so refunds of the Microsoft Store are missing.`,
        cure: 'Associate the Entra application with the product in Partner Center, and request the clawback event queue from your Developer Partner Manager or Microsoft contact for its client id.',
      },
    ];
  }
}
