import { ServiceError } from '../foundation/errors.ts';
import { logWarning } from '../foundation/log.ts';
import { perContainer, type Service } from '../foundation/service.ts';
import { minuteMs } from '../foundation/time.ts';
import type { FinishedEvent } from './build-spans.ts';

/** Time of the last logged failure, so that a receiver that is down does not fill the log. */
const lastFailure = perContainer(() => ({ at: Number.NEGATIVE_INFINITY }));

/**
 * Sends the spans of an event, with the deployment option `otlpTracesUrl` only. Never fails: spans that cannot be sent
 * are lost.
 */
export async function exportSpans(service: Service, event: FinishedEvent): Promise<void> {
  if (!service.spans) return;
  try {
    const { buildTraceRequest } = await import('./build-spans.ts');
    await service.spans.post(JSON.stringify(buildTraceRequest(event, service.spans.resource, service.now())));
  } catch (cause) {
    const failure = lastFailure(service);
    const now = service.now();
    if (now - failure.at < minuteMs) return;
    failure.at = now;
    logWarning({ app: event.appName }, new ServiceError('ConnectionFailed', 'The spans cannot be sent.', { cause }));
  }
}
