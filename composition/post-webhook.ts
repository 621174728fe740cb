import { once } from '../lib/shared/once.ts';
import { isLocalService } from '../lib/shared/store-emulator.ts';
import type { PostWebhook } from '../lib/webhooks/post-webhook.ts';
import { emulator } from './environment.ts';

/** Posts a webhook to the app's server. Loads the HTTP client with the first webhook. */
export const postWebhook = once((): PostWebhook => {
  const { WEBHOOK_TIMEOUT_MS: timeoutMs } = process.env;
  const options = { allowsLoopback: isLocalService(emulator()), ...(timeoutMs && { timeoutMs: Number(timeoutMs) }) };
  let loaded: Promise<PostWebhook> | undefined;
  return async (message) => {
    loaded ??= import('../lib/webhook-client/guarded-post.ts').then(({ createGuardedPost }) =>
      createGuardedPost(options),
    );
    return await (await loaded)(message);
  };
});
