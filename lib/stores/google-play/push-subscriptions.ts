import * as v from 'valibot';
import type { StoreContext } from '../store-context.ts';
import { getAccessToken, scopes } from './access-token.ts';
import { parseResponse, unavailableError } from './api-errors.ts';
import type { ServiceAccount } from './settings.ts';

/**
 * A subscription of a Pub/Sub topic.
 * @see https://docs.cloud.google.com/pubsub/docs/reference/rest/v1/projects.subscriptions
 */
export const PushSubscription = v.object({
  name: v.string(),
  topic: v.optional(v.string(), ''),
  pushConfig: v.optional(
    v.object({
      pushEndpoint: v.optional(v.string(), ''),
      oidcToken: v.exactOptional(
        v.object({ serviceAccountEmail: v.optional(v.string(), ''), audience: v.optional(v.string(), '') }),
      ),
    }),
    {},
  ),
  /** Absent: the subscription is deleted after 31 days without activity. An empty policy never expires. */
  expirationPolicy: v.exactOptional(v.object({ ttl: v.exactOptional(v.string()) })),
  state: v.optional(v.string(), 'ACTIVE'),
  detached: v.optional(v.boolean(), false),
});
export type PushSubscription = v.InferOutput<typeof PushSubscription>;

const Subscriptions = v.object({
  subscriptions: v.optional(v.array(PushSubscription), []),
  nextPageToken: v.optional(v.string(), ''),
});

/** Maximum of a page. */
const pageSize = 1_000;

/** A project has up to 10,000 subscriptions. @see https://docs.cloud.google.com/pubsub/quotas */
const maxPages = 20;

/**
 * Lists the subscriptions of a Cloud project. Returns undefined if the service account cannot list them: the service
 * does not need the permission. Throws `ConnectionFailed` if Pub/Sub is unavailable.
 * @see https://docs.cloud.google.com/pubsub/docs/reference/rest/v1/projects.subscriptions/list
 */
export async function listSubscriptions(
  account: ServiceAccount,
  project: string,
  context: Pick<StoreContext, 'fetch' | 'now'>,
): Promise<readonly PushSubscription[] | undefined> {
  const token = await getAccessToken(account, context, scopes.pubsub);
  const url = `https://pubsub.googleapis.com/v1/projects/${encodeURIComponent(project)}/subscriptions?pageSize=${pageSize}`;
  const subscriptions: PushSubscription[] = [];
  let query = '';
  for (let pageCount = 0; pageCount < maxPages; pageCount++) {
    const { status, text } = await context.fetch(`${url}${query}`, { headers: { authorization: `Bearer ${token}` } });
    // Google returns 404 for a project that the account cannot read.
    if ([401, 403, 404].includes(status)) return undefined;
    if (status !== 200) throw unavailableError(`Pub/Sub: HTTP ${status}`);
    const page = parseResponse(Subscriptions, text);
    subscriptions.push(...page.subscriptions);
    if (page.nextPageToken === '') return subscriptions;
    query = `&pageToken=${encodeURIComponent(page.nextPageToken)}`;
  }
  throw unavailableError(`Pub/Sub: more than ${maxPages} pages`);
}
