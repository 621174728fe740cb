import type { DeliveryAttempt } from './notification-delivery.ts';

/** Default time for the response to a notification. */
export const defaultNotificationTimeoutMs = 10_000;

interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborts the attempt. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Posts a notification once, without following redirects. Returns undefined if the attempt was aborted. */
export async function postNotification({
  url,
  headers,
  body,
  signal,
  timeoutMs,
}: PostRequest): Promise<Omit<DeliveryAttempt, 'at'> | undefined> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const init = {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.any([timeout, signal]),
    } as const;
    const response = await fetch(url, init);
    const { status } = response;
    await response.body?.cancel();
    return { status };
  } catch {
    if (signal.aborted) return undefined;
    return { failure: timeout.aborted ? 'timeout' : 'no-connection' };
  }
}
