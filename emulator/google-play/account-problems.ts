import type { EmulatedStore } from '../emulated-store.ts';
import { jsonResponse } from '../http-messages.ts';
import { apiError, toErrorResponse } from './api-error.ts';
import { pubsubError } from './pubsub-api.ts';

const apiHost = 'androidpublisher.googleapis.com';
const tokenHost = 'oauth2.googleapis.com';
const pubsubHost = 'pubsub.googleapis.com';

/**
 * Problems of an account at Google:
 * - `no-access`: the service account lacks access to the app in the Play Console, or the grant is not effective yet.
 * - `api-disabled`: the Cloud project of the service account has not enabled the API.
 * - `key-deleted`: the key of the service account was deleted or disabled.
 * - `no-pubsub-role`: the service account lacks the role Pub/Sub Viewer in the Cloud project.
 *
 * @see https://github.com/googleapis/google-api-dotnet-client/issues/1369
 * @see https://docs.cloud.google.com/apis/design/errors
 * @see https://developers.google.com/identity/protocols/oauth2/service-account
 * @see https://docs.cloud.google.com/pubsub/docs/access-control
 */
export const accountProblems: EmulatedStore['accountProblems'] = {
  'no-access': ({ host }) => (host === apiHost ? toErrorResponse(missingAccessError) : undefined),
  'api-disabled': ({ host }) => (host === apiHost ? disabledApiResponse : undefined),
  'key-deleted': ({ host }) =>
    host === tokenHost
      ? jsonResponse(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' })
      : undefined,
  'no-pubsub-role': ({ host }) =>
    host === pubsubHost
      ? pubsubError(403, 'PERMISSION_DENIED', 'User not authorized to perform this action.')
      : undefined,
};

const missingAccessError = apiError(
  401,
  'permissionDenied',
  'The current user has insufficient permissions to perform the requested operation.',
);

const disabledApiMessage =
  'Google Play Android Developer API has not been used in project 123456789 before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/androidpublisher.googleapis.com/overview?project=123456789 then retry. If you enabled this API recently, wait a few minutes for the action to propagate to our systems and retry.';

const disabledApiResponse = jsonResponse(403, {
  error: {
    code: 403,
    message: disabledApiMessage,
    errors: [
      {
        message: disabledApiMessage,
        domain: 'usageLimits',
        reason: 'accessNotConfigured',
        extendedHelp: 'https://console.developers.google.com',
      },
    ],
    status: 'PERMISSION_DENIED',
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'SERVICE_DISABLED',
        domain: 'googleapis.com',
        metadata: { service: apiHost, consumer: 'projects/123456789' },
      },
    ],
  },
});
