import { type HttpResponse, jsonResponse, type StoreHttpRequest } from '../http-messages.ts';
import { pushAudience, pushServiceAccount } from './keys.ts';

/** Cloud project of the developer. */
const project = 'example-app';

/** Name of the subscription that pushes the developer notifications. */
export const subscriptionName = `projects/${project}/subscriptions/play-notifications`;

/**
 * Builds the push subscription of the developer. It does not exist without a URL.
 *
 * @see https://docs.cloud.google.com/pubsub/docs/reference/rest/v1/projects.subscriptions
 */
const buildSubscription = (pushEndpoint: string, isUnwrapped: boolean): object => ({
  name: subscriptionName,
  topic: `projects/${project}/topics/play-notifications`,
  pushConfig: {
    pushEndpoint,
    oidcToken: { serviceAccountEmail: pushServiceAccount, audience: pushAudience },
    ...(isUnwrapped && { noWrapper: { writeMetadata: false } }),
  },
  ackDeadlineSeconds: 10,
  messageRetentionDuration: '604800s',
  expirationPolicy: {},
  state: 'ACTIVE',
});

/**
 * Handles a call of the Pub/Sub API:
 *
 * - `GET /v1/{project}/subscriptions` lists the subscriptions of a project.
 * - `GET /v1/{subscription}` returns one.
 *
 * @see https://docs.cloud.google.com/pubsub/docs/reference/rest/v1/projects.subscriptions/list
 * @see https://docs.cloud.google.com/pubsub/docs/reference/rest/v1/projects.subscriptions/get
 */
export function handlePubsubCall(
  { method, path }: StoreHttpRequest,
  pushEndpoint: string | undefined,
  isUnwrapped = false,
): HttpResponse {
  const [, name = '', id] = /^\/v1\/projects\/([^/]+)\/subscriptions(?:\/([^/]+))?$/.exec(path) ?? [];
  if (method !== 'GET' || name === '') return pubsubError(404, 'NOT_FOUND', 'Requested entity was not found.');
  if (name !== project) return pubsubError(403, 'PERMISSION_DENIED', 'User not authorized to perform this action.');
  if (id === undefined)
    return jsonResponse(
      200,
      pushEndpoint === undefined ? {} : { subscriptions: [buildSubscription(pushEndpoint, isUnwrapped)] },
    );
  if (pushEndpoint === undefined || !subscriptionName.endsWith(`/${id}`))
    return pubsubError(404, 'NOT_FOUND', `Resource not found (resource=${id}).`);
  return jsonResponse(200, buildSubscription(pushEndpoint, isUnwrapped));
}

/** Creates an error of a Google Cloud API. */
export const pubsubError = (code: number, status: string, message: string): HttpResponse =>
  jsonResponse(code, { error: { code, message, status } });
