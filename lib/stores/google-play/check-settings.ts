import { type Diagnosis, findRejection, type SettingsRejection, type SettingsWarning } from '../settings.ts';
import type { Store } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { evictAccessToken } from './access-token.ts';
import { connectPlay } from './play-api.ts';
import { type GooglePlaySettings, parseEnteredSettings, parseStoredSettings } from './settings.ts';

/** Token of a purchase that does not exist: the status of the response shows whether the credentials are accepted. */
const probeToken = 'claimcheck-settings-check';

/** Checks the settings of an app. `callStore` adds a read-only call to Google Play. */
export async function checkSettings(
  context: StoreContext,
  { callStore }: Parameters<Store['checkSettings']>[1],
): Promise<string> {
  const { serviceAccount } = parseEnteredSettings(context.settings);
  if (!serviceAccount)
    return 'The format is valid. Without a service account, receipts are verified by their signatures only.';
  if (!callStore) return 'The format is valid.';
  // A cached token would hide a deleted key for up to an hour.
  evictAccessToken(serviceAccount);
  await connectPlay(context).fetchSubscription(probeToken);
  return 'Google Play accepted the service account.';
}

const setStore = 'run `app set-store`';

/** @see https://developers.google.com/android-publisher/getting_started */
export function describeRejection({ rejection }: SettingsRejection, settings: unknown): Diagnosis {
  const { packageName, serviceAccount } = parseStoredSettings(settings);
  const account = serviceAccount?.client_email ?? '';
  switch (rejection) {
    case 'permission':
      return {
        problem: `The service account ${account} lacks access to ${packageName} in the Play Console, or the access is not effective yet.`,
        cure: `Invite ${account} in the Play Console, Users and permissions, with the permissions to view financial data and to manage orders and subscriptions. A new permission can take two days.`,
      };
    case 'apiDisabled':
      return {
        problem: `The Google Play Android Developer API is disabled in the Cloud project of the service account ${account}.`,
        cure: 'Enable the API in the Google Cloud console, APIs and services, Library, and wait some minutes.',
      };
    case 'app':
      return {
        problem: `Google Play does not have an app with the package name ${packageName} in the developer account.`,
        cure: `Correct packageName and ${setStore}.`,
      };
    default:
      return {
        problem: `Google rejects the key of the service account ${account}: the key or the account is deleted or disabled.`,
        cure: `Create a JSON key in the Google Cloud console, IAM and admin, Service accounts, put it into serviceAccount, and ${setStore}.`,
      };
  }
}

export async function listSettingsWarnings(context: StoreContext): Promise<readonly SettingsWarning[]> {
  const settings = parseStoredSettings(context.settings);
  const warnings = settings.pushAudience && settings.pushServiceAccount ? [] : [unverifiablePushWarning];
  if (!settings.serviceAccount) return [noCredentialsWarning, ...warnings];
  return [...warnings, ...((await canReadOrders(context)) ? [] : [toOrdersWarning(settings)])];
}

/** No order has this id, so the response depends on the permission alone. */
const probeOrderId = 'GPA.0000-0000-0000-00000';

async function canReadOrders(context: StoreContext): Promise<boolean> {
  try {
    await connectPlay(context).fetchOrder(probeOrderId);
    return true;
  } catch (error) {
    if (findRejection(error)?.rejection === 'permission') return false;
    throw error;
  }
}

const toOrdersWarning = ({ packageName, serviceAccount }: GooglePlaySettings): SettingsWarning => ({
  code: 'orders-unreadable',
  problem: `The service account ${serviceAccount?.client_email ?? ''} lacks the permission to view financial data of ${packageName}, so amounts and refunds are missing.`,
  cure: 'Add the permission "View financial data, orders, and cancellation survey responses" in the Play Console, Users and permissions.',
});

const noCredentialsWarning: SettingsWarning = {
  code: 'no-credentials',
  problem:
    'The settings of Google Play contain no service account, so renewals and refunds after a validation are missing.',
  cure: `Add serviceAccount, the JSON key of a service account with access to the Play Console, and ${setStore}.`,
};

const unverifiablePushWarning: SettingsWarning = {
  code: 'notifications-unverifiable',
  problem: 'The settings of Google Play lack pushAudience or pushServiceAccount, so all notifications are rejected.',
  cure: `Enable authentication in the Pub/Sub push subscription, add its audience and service account to the settings, and ${setStore}.`,
};
