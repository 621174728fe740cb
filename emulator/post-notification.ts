import type { DeliveryAttempt } from './notification-delivery.ts';

const timeoutMs = 10_000;

interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Breaks the attempt off. */
  readonly signal: AbortSignal;
}

/** Posts once, without following redirects, and tells how it ended; undefined when it was broken off. */
export async function postNotification({
  url,
  headers,
  body,
  signal,
}: Request): Promise<Omit<DeliveryAttempt, 'at'> | undefined> {
  const tooLong = AbortSignal.timeout(timeoutMs);
  try {
    const init = {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.any([tooLong, signal]),
    } as const;
    const response = await fetch(url, init);
    const { status } = response;
    await response.body?.cancel();
    return { status };
  } catch {
    if (signal.aborted) return undefined;
    return { failure: tooLong.aborted ? 'timeout' : 'no-connection' };
  }
}
